# lockstep_add_pipeline_tests(FILE pipeline.toml [PREFIX name] [CONFIG file…] [SET key=value…] [PLUGIN_PATH folder…]
#                             [LABELS label…] [TIMEOUT seconds] [WORKING_DIRECTORY folder] [ENVIRONMENT name=value…])
#
# Each row of the pipeline's matrix becomes a test `name.row`, a pipeline without a matrix the test `name`; by default
# the name is the file's. A test passes if `lockstep run` ends with exit code 0. ctest asks the program for the rows when
# it starts, so a changed pipeline needs no new configure. A pipeline that is not valid is one test that fails and says why.
function(lockstep_add_pipeline_tests)
  cmake_parse_arguments(PARSE_ARGV 0 arg "" "FILE;PREFIX;TIMEOUT;WORKING_DIRECTORY"
                        "CONFIG;SET;PLUGIN_PATH;LABELS;ENVIRONMENT")
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

  set(program lockstep::program)
  if(TARGET lockstep_cli)
    set(program lockstep_cli)
  endif()
  string(MAKE_C_IDENTIFIER "${arg_PREFIX}" name)
  set(rows ${CMAKE_CURRENT_BINARY_DIR}/lockstep_${name}_rows.cmake)
  set(script ${CMAKE_CURRENT_BINARY_DIR}/lockstep_${name}_tests.cmake)
  file(GENERATE OUTPUT ${script} CONTENT "# Read by ctest when it starts.
set(lockstep_tests)
execute_process(
  COMMAND [==[$<TARGET_FILE:${program}>]==] plan ${words} --format ctest --prefix [==[${arg_PREFIX}]==]
  WORKING_DIRECTORY [==[${arg_WORKING_DIRECTORY}]==]
  OUTPUT_FILE [==[${rows}]==] ERROR_QUIET RESULT_VARIABLE lockstep_result)
if(lockstep_result STREQUAL \"0\")
  include([==[${rows}]==])
else()
  add_test([==[${arg_PREFIX}]==] [==[$<TARGET_FILE:${program}>]==] validate ${words})
  set(lockstep_tests [==[${arg_PREFIX}]==])
endif()
foreach(lockstep_test IN LISTS lockstep_tests)
  set_tests_properties(\"\${lockstep_test}\" PROPERTIES
    LABELS [==[${arg_LABELS}]==] TIMEOUT ${arg_TIMEOUT} WORKING_DIRECTORY [==[${arg_WORKING_DIRECTORY}]==]
    ENVIRONMENT [==[${arg_ENVIRONMENT}]==])
endforeach()
")
  set_property(DIRECTORY APPEND PROPERTY TEST_INCLUDE_FILES ${script})
endfunction()
