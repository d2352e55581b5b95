# How a step and its test are built: inside Lockstep's own tree, and in a project that has found the package.

# lockstep_add_step(NAME family.name SOURCES file… [LINK target…] [FOLDER dir])
#
# Builds the plugin `family.name.so`, as target `step_family_name`, into FOLDER; by default into LOCKSTEP_PLUGIN_DIRECTORY,
# and without that into the folder `plugins` of the project's build tree. Link lockstep::torch if the step uses LibTorch.
function(lockstep_add_step)
  cmake_parse_arguments(PARSE_ARGV 0 arg "" "NAME;FOLDER" "SOURCES;LINK")
  if(NOT arg_NAME OR NOT arg_SOURCES)
    message(FATAL_ERROR "lockstep_add_step: NAME and SOURCES are required")
  endif()
  if(arg_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "lockstep_add_step(NAME ${arg_NAME}): what is '${arg_UNPARSED_ARGUMENTS}'?")
  endif()
  if(NOT arg_FOLDER)
    set(arg_FOLDER ${PROJECT_BINARY_DIR}/plugins)
    if(LOCKSTEP_PLUGIN_DIRECTORY)
      set(arg_FOLDER ${LOCKSTEP_PLUGIN_DIRECTORY})
    endif()
  endif()
  if("lockstep::torch" IN_LIST arg_LINK AND NOT TARGET lockstep::torch)
    message(FATAL_ERROR "lockstep_add_step(NAME ${arg_NAME}): lockstep::torch is not there: find_package(Lockstep COMPONENTS torch)")
  endif()
  string(REPLACE "." "_" target "step_${arg_NAME}")
  add_library(${target} MODULE ${arg_SOURCES})
  target_link_libraries(${target} PRIVATE lockstep::lockstep ${arg_LINK})
  if(TARGET lockstep_options)
    target_link_libraries(${target} PRIVATE lockstep_options)
  endif()
  set_target_properties(${target} PROPERTIES PREFIX "" OUTPUT_NAME ${arg_NAME} SUFFIX ".so"
                                             LIBRARY_OUTPUT_DIRECTORY ${arg_FOLDER} CXX_VISIBILITY_PRESET hidden
                                             VISIBILITY_INLINES_HIDDEN ON)
  target_compile_features(${target} PRIVATE cxx_std_20)
  if(NOT LOCKSTEP_SANITIZE AND NOT CMAKE_CXX_FLAGS MATCHES "-fsanitize=")
    target_link_options(${target} PRIVATE -Wl,-z,defs)
  endif()
  target_link_options(${target} PRIVATE -Wl,--build-id)
  if(LOCKSTEP_INSTALL_STEPS)  # what Lockstep itself ships
    set_target_properties(${target} PROPERTIES INSTALL_RPATH "$ORIGIN/../..;${LOCKSTEP_INSTALL_RPATH}")
    install(TARGETS ${target} LIBRARY DESTINATION lib/lockstep/plugins)
    set_property(GLOBAL APPEND PROPERTY LOCKSTEP_INSTALLED_TARGETS ${target})
  endif()
endfunction()

# lockstep_add_step_test(NAME family.name SOURCES file… [LINK target…])
#
# Builds the program `test_family_name` and registers it with ctest: a test of the step that lockstep_add_step has built
# under this NAME. The program has a `main` of its own, or links what brings one (Catch2::Catch2WithMain, GTest::gtest_main);
# <lockstep/testing.hpp> is there, LOCKSTEP_STEP_FILE is the path of the plugin, and LOCKSTEP_TEST_FOLDER the folder of the
# first source file, for golden files beside it.
function(lockstep_add_step_test)
  cmake_parse_arguments(PARSE_ARGV 0 arg "" "NAME" "SOURCES;LINK")
  if(NOT arg_NAME OR NOT arg_SOURCES)
    message(FATAL_ERROR "lockstep_add_step_test: NAME and SOURCES are required")
  endif()
  string(REPLACE "." "_" name "${arg_NAME}")
  if(NOT TARGET step_${name})
    message(FATAL_ERROR "lockstep_add_step_test(NAME ${arg_NAME}): there is no lockstep_add_step(NAME ${arg_NAME} …) before it")
  endif()
  add_executable(test_${name} ${arg_SOURCES})
  target_link_libraries(test_${name} PRIVATE lockstep::testing ${arg_LINK})
  if(TARGET lockstep_options)
    target_link_libraries(test_${name} PRIVATE lockstep_options)
  endif()
  list(GET arg_SOURCES 0 folder)
  cmake_path(ABSOLUTE_PATH folder BASE_DIRECTORY ${CMAKE_CURRENT_SOURCE_DIR} NORMALIZE)
  cmake_path(GET folder PARENT_PATH folder)
  target_compile_definitions(test_${name} PRIVATE LOCKSTEP_STEP_FILE="$<TARGET_FILE:step_${name}>"
                                                  LOCKSTEP_TEST_FOLDER="${folder}")
  add_dependencies(test_${name} step_${name})
  add_test(NAME ${arg_NAME} COMMAND test_${name})
endfunction()
