# Finds LibTorch and defines the imported target LibTorch::LibTorch.
#
# find_package(Torch) drags in MKL, kineto and CUDA search code that fails or warns on machines that only need the CPU
# libraries; three shared libraries and one include folder are all that Lockstep uses, so they are found directly.
# Hints: CMAKE_PREFIX_PATH (any of `torch.utils.cmake_prefix_path`, the wheel's torch folder, an unpacked libtorch).

set(_libtorch_roots)
foreach(prefix IN LISTS CMAKE_PREFIX_PATH)
  list(APPEND _libtorch_roots ${prefix} ${prefix}/../.. ${prefix}/torch)
endforeach()

find_path(LibTorch_INCLUDE_DIR ATen/core/Tensor.h PATHS ${_libtorch_roots} PATH_SUFFIXES include)
find_library(LibTorch_torch_LIBRARY torch PATHS ${_libtorch_roots} PATH_SUFFIXES lib)
find_library(LibTorch_torch_cpu_LIBRARY torch_cpu PATHS ${_libtorch_roots} PATH_SUFFIXES lib)
find_library(LibTorch_c10_LIBRARY c10 PATHS ${_libtorch_roots} PATH_SUFFIXES lib)

if(LibTorch_INCLUDE_DIR AND EXISTS ${LibTorch_INCLUDE_DIR}/torch/headeronly/version.h)
  file(STRINGS ${LibTorch_INCLUDE_DIR}/torch/headeronly/version.h _version REGEX "#define TORCH_VERSION \"")
elseif(LibTorch_INCLUDE_DIR AND EXISTS ${LibTorch_INCLUDE_DIR}/torch/csrc/api/include/torch/version.h)
  file(STRINGS ${LibTorch_INCLUDE_DIR}/torch/csrc/api/include/torch/version.h _version REGEX "#define TORCH_VERSION \"")
endif()
if(_version)
  string(REGEX REPLACE ".*\"([^\"]+)\".*" "\\1" LibTorch_VERSION "${_version}")
endif()

include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(
  LibTorch REQUIRED_VARS LibTorch_torch_cpu_LIBRARY LibTorch_c10_LIBRARY LibTorch_INCLUDE_DIR VERSION_VAR LibTorch_VERSION
  REASON_FAILURE_MESSAGE "point CMAKE_PREFIX_PATH at a LibTorch, for example what torch.utils.cmake_prefix_path is in Python")

if(LibTorch_FOUND AND NOT TARGET LibTorch::LibTorch)
  add_library(LibTorch::LibTorch INTERFACE IMPORTED)
  target_include_directories(LibTorch::LibTorch SYSTEM INTERFACE ${LibTorch_INCLUDE_DIR})
  get_filename_component(_libtorch_library_dir ${LibTorch_torch_cpu_LIBRARY} DIRECTORY)
  target_link_libraries(LibTorch::LibTorch INTERFACE ${LibTorch_torch_LIBRARY} ${LibTorch_torch_cpu_LIBRARY}
                                                     ${LibTorch_c10_LIBRARY})
  # A CUDA build's libraries name more libraries; only what Lockstep itself uses must resolve at link time.
  target_link_options(LibTorch::LibTorch INTERFACE -Wl,--allow-shlib-undefined -Wl,-rpath-link,${_libtorch_library_dir})
endif()
