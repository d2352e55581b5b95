# Finds LibTorch and defines the imported targets LibTorch::torch_cpu, LibTorch::c10 and LibTorch::LibTorch (both).
#
# find_package(Torch) drags in MKL, kineto and CUDA search code that fails or warns on machines that only need the CPU
# libraries; two shared libraries and one include folder are all that Lockstep uses, so they are found directly.
# libtorch.so is not one of them: in a CUDA build it exists only to load libtorch_cuda.so and gigabytes of CUDA libraries.
#
# Looked at, in this order: CMAKE_PREFIX_PATH, the CMake variable and the environment variable (each entry any of
# `torch.utils.cmake_prefix_path`, the wheel's torch folder, a folder that holds it, an unpacked libtorch);
# the wheel that ./run has installed under build/; the LibTorch that an installed Lockstep was built with.

if(NOT LibTorch_torch_cpu_LIBRARY)
  string(REPLACE ":" ";" _libtorch_environment "$ENV{CMAKE_PREFIX_PATH}")
  file(GLOB _libtorch_installed ${CMAKE_CURRENT_LIST_DIR}/../build/libtorch/lib/python3*/site-packages/torch)
  set(_libtorch_roots)
  foreach(prefix IN LISTS CMAKE_PREFIX_PATH _libtorch_environment _libtorch_installed Lockstep_LIBTORCH_DIR)
    list(APPEND _libtorch_roots ${prefix} ${prefix}/../.. ${prefix}/torch)
  endforeach()
  # All three from one root, so that headers and libraries of two installations never mix.
  find_path(LibTorch_INCLUDE_DIR ATen/core/Tensor.h PATHS ${_libtorch_roots} PATH_SUFFIXES include NO_DEFAULT_PATH)
  foreach(_name torch_cpu c10)
    find_library(LibTorch_${_name}_LIBRARY ${_name} PATHS ${LibTorch_INCLUDE_DIR}/..
                 PATH_SUFFIXES lib lib/${CMAKE_LIBRARY_ARCHITECTURE} NO_DEFAULT_PATH)
  endforeach()
  mark_as_advanced(LibTorch_INCLUDE_DIR LibTorch_torch_cpu_LIBRARY LibTorch_c10_LIBRARY)
endif()

# The version is three macros, since 2.8 in a header of their own.
foreach(_header torch/csrc/api/include/torch/version.h torch/headeronly/version.h)
  if(EXISTS "${LibTorch_INCLUDE_DIR}/${_header}")
    file(STRINGS "${LibTorch_INCLUDE_DIR}/${_header}" _version REGEX "define TORCH_VERSION_(MAJOR|MINOR|PATCH) ")
    if(_version MATCHES "MAJOR ([0-9]+).*MINOR ([0-9]+).*PATCH ([0-9]+)")
      set(LibTorch_VERSION ${CMAKE_MATCH_1}.${CMAKE_MATCH_2}.${CMAKE_MATCH_3})
    endif()
  endif()
endforeach()

include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(
  LibTorch REQUIRED_VARS LibTorch_torch_cpu_LIBRARY LibTorch_c10_LIBRARY LibTorch_INCLUDE_DIR VERSION_VAR LibTorch_VERSION
  REASON_FAILURE_MESSAGE
    "let ./run install it, or point CMAKE_PREFIX_PATH at the torch folder of an installed wheel or at an unpacked libtorch"
)

if(LibTorch_FOUND AND NOT TARGET LibTorch::LibTorch)
  foreach(_name torch_cpu c10)
    add_library(LibTorch::${_name} SHARED IMPORTED)
    get_filename_component(_libtorch_library_dir ${LibTorch_${_name}_LIBRARY} DIRECTORY)
    # -idirafter: the wheel brings headers of a fmt of its own, which must not hide the one that Lockstep links.
    # A CUDA build's libraries name CUDA libraries; only what Lockstep itself uses must resolve at link time.
    set_target_properties(LibTorch::${_name} PROPERTIES
      IMPORTED_LOCATION ${LibTorch_${_name}_LIBRARY}
      INTERFACE_COMPILE_OPTIONS "-idirafter${LibTorch_INCLUDE_DIR}"
      INTERFACE_LINK_OPTIONS "-Wl,--allow-shlib-undefined;-Wl,-rpath-link,${_libtorch_library_dir}")
  endforeach()
  target_link_libraries(LibTorch::torch_cpu INTERFACE LibTorch::c10)
  add_library(LibTorch::LibTorch INTERFACE IMPORTED)
  target_link_libraries(LibTorch::LibTorch INTERFACE LibTorch::torch_cpu LibTorch::c10)
endif()
