# What every target of Lockstep shares: warnings, sanitizers, and the one way to build a plugin.

add_library(lockstep_options INTERFACE)
target_compile_options(lockstep_options INTERFACE -Wall -Wextra -Wpedantic -Wshadow -Wnon-virtual-dtor -Wconversion
                                                  -Wno-sign-conversion
                                                  -Wno-missing-field-initializers)
# GCC 12 sees overlapping copies in `"text" + std::string` that are not there (GCC bug 105651, mended in 13).
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
  target_compile_options(lockstep_options INTERFACE -Wno-restrict)
endif()
if(LOCKSTEP_WERROR)
  target_compile_options(lockstep_options INTERFACE -Werror)
endif()
if(LOCKSTEP_SANITIZE)
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    target_compile_options(lockstep_options INTERFACE -Wno-maybe-uninitialized)  # false alarms in <regex> with sanitizers
  endif()
  target_compile_options(lockstep_options INTERFACE -fsanitize=${LOCKSTEP_SANITIZE} -fno-omit-frame-pointer
                                                    -fno-sanitize-recover=all)
  target_link_options(lockstep_options INTERFACE -fsanitize=${LOCKSTEP_SANITIZE})
endif()

# lockstep_add_step(NAME family.name SOURCES file… [LINK target…] [FOLDER dir])
#
# Builds the plugin `family.name.so`. Link lockstep::torch if the step uses LibTorch.
function(lockstep_add_step)
  cmake_parse_arguments(PARSE_ARGV 0 arg "" "NAME;FOLDER" "SOURCES;LINK")
  if(NOT arg_NAME OR NOT arg_SOURCES)
    message(FATAL_ERROR "lockstep_add_step: NAME and SOURCES are required")
  endif()
  if(NOT arg_FOLDER)
    set(arg_FOLDER ${LOCKSTEP_PLUGIN_DIRECTORY})
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
  if(NOT LOCKSTEP_SANITIZE)
    target_link_options(${target} PRIVATE -Wl,-z,defs)
  endif()
  target_link_options(${target} PRIVATE -Wl,--build-id)
endfunction()
