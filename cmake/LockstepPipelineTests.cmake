# lockstep_add_pipeline_tests(FILE pipeline.toml [PREFIX name] [CONFIG file…] [SET key=value…] [PLUGIN_PATH folder…]
#                             [LABELS label…] [TIMEOUT seconds] [WORKING_DIRECTORY folder] [ENVIRONMENT name=value…]
#                             [DEPENDS target…] [BASELINE file] [JSON folder])
#
# Each row of the pipeline's matrix becomes a test `name.row`, a pipeline without a matrix the test `name`; by default
# the name is the file's. A test passes if `lockstep run` ends with exit code 0. ctest asks the program for the rows when
# it starts, so a changed pipeline needs no new configure. A pipeline whose rows cannot be found is one test that fails and
# says why. Relative paths are of the current source folder. DEPENDS: targets that the default build then makes. BASELINE:
# a test fails too where a check is worse than there. JSON: a folder that gets each test's run record, `name.row.json`; it is
# made, and a relative one is of the current binary folder. `lockstep merge` makes a summary of them.
function(lockstep_add_pipeline_tests)
  cmake_parse_arguments(PARSE_ARGV 0 arg "" "FILE;PREFIX;TIMEOUT;WORKING_DIRECTORY;BASELINE;JSON"
                        "CONFIG;SET;PLUGIN_PATH;LABELS;ENVIRONMENT;DEPENDS")
  if(NOT arg_FILE)
    message(FATAL_ERROR "lockstep_add_pipeline_tests: FILE is required")
  endif()
  if(arg_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "lockstep_add_pipeline_tests: unknown arguments: ${arg_UNPARSED_ARGUMENTS}")
  endif()
  cmake_path(ABSOLUTE_PATH arg_FILE BASE_DIRECTORY ${CMAKE_CURRENT_SOURCE_DIR})
  if(NOT arg_PREFIX)
    cmake_path(GET arg_FILE STEM arg_PREFIX)
  endif()
  if(NOT arg_TIMEOUT)
    set(arg_TIMEOUT 1500)  # ctest's own
  endif()
  if(NOT arg_WORKING_DIRECTORY)
    set(arg_WORKING_DIRECTORY ${CMAKE_CURRENT_BINARY_DIR})
  endif()
  cmake_path(ABSOLUTE_PATH arg_WORKING_DIRECTORY BASE_DIRECTORY ${CMAKE_CURRENT_SOURCE_DIR})

  set(words "[==[${arg_FILE}]==]")
  foreach(kind CONFIG PLUGIN_PATH)
    string(TOLOWER ${kind} option)
    string(REPLACE _ - option ${option})
    foreach(path IN LISTS arg_${kind})
      cmake_path(ABSOLUTE_PATH path BASE_DIRECTORY ${CMAKE_CURRENT_SOURCE_DIR})
      string(APPEND words " [==[--${option}=${path}]==]")
    endforeach()
  endforeach()
  foreach(set IN LISTS arg_SET)
    string(APPEND words " [==[--set=${set}]==]")
  endforeach()

  if(arg_BASELINE)
    cmake_path(ABSOLUTE_PATH arg_BASELINE BASE_DIRECTORY ${CMAKE_CURRENT_SOURCE_DIR})
    string(APPEND words " [==[--run-option=--baseline=${arg_BASELINE}]==]")
  endif()
  if(arg_JSON)
    cmake_path(ABSOLUTE_PATH arg_JSON BASE_DIRECTORY ${CMAKE_CURRENT_BINARY_DIR})
    file(MAKE_DIRECTORY ${arg_JSON})
    string(APPEND words " [==[--run-option=--json=${arg_JSON}/{test}.json]==]")
  endif()

  set(environment "")
  foreach(variable IN LISTS arg_ENVIRONMENT)
    string(APPEND environment " [==[${variable}]==]")
  endforeach()

  set(program lockstep::program)
  if(TARGET lockstep_cli)
    set(program lockstep_cli)
  endif()
  string(MAKE_C_IDENTIFIER "${arg_PREFIX}" name)
  if(arg_DEPENDS)
    add_custom_target(lockstep_${name}_needs ALL)
    add_dependencies(lockstep_${name}_needs ${arg_DEPENDS})
  endif()

  set(base ${CMAKE_CURRENT_BINARY_DIR}/lockstep_${name})
  set(script ${base}_tests.cmake)
  set_property(DIRECTORY APPEND PROPERTY TEST_INCLUDE_FILES ${script})
  get_property(several GLOBAL PROPERTY GENERATOR_IS_MULTI_CONFIG)
  if(several)  # ctest includes one file, which takes the one of its configuration
    file(WRITE ${script} "set(lockstep_script \"${base}_tests-\${CTEST_CONFIGURATION_TYPE}.cmake\")
if(EXISTS \"\${lockstep_script}\")
  include(\"\${lockstep_script}\")
else()
  add_test([==[${arg_PREFIX}]==] NOT_AVAILABLE)
endif()
")
    set(script ${base}_tests-$<CONFIG>.cmake)
  endif()

  # The failing test shows what planning said: to ask again could pass by then, with no row run.
  file(GENERATE OUTPUT ${script} CONTENT "# Read by ctest when it starts.
set(lockstep_tests)
execute_process(
  COMMAND [==[${CMAKE_COMMAND}]==] -E env${environment} --
          [==[$<TARGET_FILE:${program}>]==] plan ${words} --format ctest --prefix [==[${arg_PREFIX}]==]
  WORKING_DIRECTORY [==[${arg_WORKING_DIRECTORY}]==]
  OUTPUT_VARIABLE lockstep_output ERROR_VARIABLE lockstep_error RESULT_VARIABLE lockstep_result)
if(lockstep_result STREQUAL \"0\")
  cmake_language(EVAL CODE \"\${lockstep_output}\")
endif()
if(NOT lockstep_tests)
  file(WRITE [==[${base}_error.txt]==] \"\${lockstep_error}\")
  file(WRITE [==[${base}_error.cmake]==] \"file(READ [==[${base}_error.txt]==] text)
message(\\\"\\\${text}\\\")
message(FATAL_ERROR [==[the rows of ${arg_FILE} were not found (\${lockstep_result})]==])
\")
  add_test([==[${arg_PREFIX}]==] [==[${CMAKE_COMMAND}]==] -P [==[${base}_error.cmake]==])
  set(lockstep_tests [==[${arg_PREFIX}]==])
endif()
foreach(lockstep_test IN LISTS lockstep_tests)
  set_tests_properties(\"\${lockstep_test}\" PROPERTIES
    LABELS [==[${arg_LABELS}]==] TIMEOUT ${arg_TIMEOUT} WORKING_DIRECTORY [==[${arg_WORKING_DIRECTORY}]==]
    ENVIRONMENT [==[${arg_ENVIRONMENT}]==])
endforeach()
")
endfunction()
