# What `cmake --install` puts where. The prefix can be moved afterwards: nothing in it names it.
#
#   bin/lockstep                      finds ../lib/lockstep/plugins
#   lib/  lib/lockstep/plugins/       libraries, plugins
#   include/lockstep/                 the public headers, <lockstep/testing.hpp>; gemma4/: of the Gemma 4 family
#   lib/cmake/Lockstep/               find_package(Lockstep [COMPONENTS torch gemma4])
#   share/lockstep/                   pipelines with their data, configs, docs: laid out as in the source tree
include(CMakePackageConfigHelpers)

set(package_folder lib/cmake/Lockstep)
set(header_files FILES_MATCHING PATTERN "*.hpp")

set_target_properties(lockstep_cli PROPERTIES EXPORT_NAME program)
set_target_properties(lockstep_testing PROPERTIES EXPORT_NAME testing)
install(TARGETS lockstep_cli lockstep lockstep_testing EXPORT LockstepLibraries RUNTIME DESTINATION bin
        LIBRARY DESTINATION lib)
install(EXPORT LockstepLibraries NAMESPACE lockstep:: DESTINATION ${package_folder})
install(DIRECTORY core/include/ core/testing/include/ DESTINATION include ${header_files} PATTERN torch.hpp EXCLUDE)
set_property(GLOBAL APPEND PROPERTY LOCKSTEP_INSTALLED_TARGETS lockstep_cli lockstep)

set(Lockstep_LIBTORCH_VERSION "")
set(Lockstep_LIBTORCH_DIR "")
if(TARGET lockstep_torch)
  find_package(LibTorch REQUIRED)
  set(Lockstep_LIBTORCH_VERSION ${LibTorch_VERSION})
  get_filename_component(Lockstep_LIBTORCH_DIR ${LibTorch_INCLUDE_DIR} DIRECTORY)
  set_target_properties(lockstep_torch PROPERTIES EXPORT_NAME torch)
  install(TARGETS lockstep_torch EXPORT LockstepTorchLibraries LIBRARY DESTINATION lib)
  install(EXPORT LockstepTorchLibraries NAMESPACE lockstep:: DESTINATION ${package_folder})
  install(FILES core/include/lockstep/torch.hpp DESTINATION include/lockstep)
  set_property(GLOBAL APPEND PROPERTY LOCKSTEP_INSTALLED_TARGETS lockstep_torch)
endif()

set(Lockstep_HAS_GEMMA4 OFF)
if(TARGET gemma4_checkpoint)
  set(Lockstep_HAS_GEMMA4 ON)
  foreach(room checkpoint processor recording reference runtime)
    if(TARGET gemma4_${room})
      install(TARGETS gemma4_${room} EXPORT LockstepGemma4Libraries LIBRARY DESTINATION lib)
      install(DIRECTORY plugins/gemma4/${room} DESTINATION include/lockstep/gemma4 ${header_files})
      set_property(GLOBAL APPEND PROPERTY LOCKSTEP_INSTALLED_TARGETS gemma4_${room})
    endif()
  endforeach()
  install(EXPORT LockstepGemma4Libraries NAMESPACE lockstep:: DESTINATION ${package_folder})
endif()

configure_package_config_file(cmake/LockstepConfig.cmake.in LockstepConfig.cmake INSTALL_DESTINATION ${package_folder}
                              NO_SET_AND_CHECK_MACRO)
# Until 1.0 a new minor version may change what a project relies on.
write_basic_package_version_file(LockstepConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/LockstepConfig.cmake ${CMAKE_CURRENT_BINARY_DIR}/LockstepConfigVersion.cmake
              cmake/LockstepSteps.cmake cmake/LockstepPipelineTests.cmake cmake/FindLibTorch.cmake
        DESTINATION ${package_folder})

install(DIRECTORY pipelines configs docs DESTINATION share/lockstep PATTERN __pycache__ EXCLUDE)
install(FILES README.md CHANGELOG.md LICENSE DESTINATION share/lockstep)
