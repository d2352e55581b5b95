# shellcheck shell=bash
# Configure and build with Ninja.

# As many compilers at once as there are processors and 1.5 GB of free memory for each.
jobs() {
  if [ -n "${CMAKE_BUILD_PARALLEL_LEVEL:-}" ]; then
    echo "$CMAKE_BUILD_PARALLEL_LEVEL"
    return
  fi
  awk -v processors="$(nproc)" '/^MemAvailable/ { fits = int($2 / 1572864) }
    END { n = fits < processors ? fits : processors; print n < 1 ? 1 : n }' /proc/meminfo
}

check_tools() {
  local version compiler=${CXX:-c++}
  version=$(cmake --version | awk 'NR == 1 { print $3 }')
  at_least 3.25 "$version" || fail "cmake is $version and 3.25 or newer is needed: install a newer one (python3 -m pip install cmake brings one)"
  have "$compiler" || fail "the compiler $compiler was not found: install g++ 12 or newer, or set CXX"
  version=$("$compiler" -dumpversion)
  if "$compiler" --version | grep -qi clang; then
    at_least 14 "$version" || fail "$compiler is clang $version and 14 or newer is needed: set CXX to a newer compiler"
  else
    at_least 12 "$version" || fail "$compiler is gcc $version and 12 or newer is needed: set CXX to a newer compiler"
  fi
}

# configure any | configure tests FLAG…
#
# `any` leaves a configured tree as it is, whether it has tests or not; a new one gets none, and needs no test library.
configure() {
  local kind=$1 key stamp=$build/.configured options=("${@:2}")
  stage "Configure"
  key="${CXX:-} ${CXXFLAGS:-} ${CMAKE_PREFIX_PATH:-} $(libtorch_root) $(libtorch_version)"
  if [ ! -f "$build/build.ninja" ] || [ ! -f "$stamp" ] || [ "$(head -n 1 "$stamp")" != "$key" ]; then
    options+=(--fresh)
    if [ "$kind" = any ]; then options+=(-DLOCKSTEP_TESTS=OFF); fi
  elif [ "$kind" = any ] || [ "$(tail -n +2 "$stamp")" = "${options[*]}" ]; then
    staged "nothing has changed"
    return
  fi
  check_tools
  rm -f "$stamp"
  (cd "$root" && cmake --preset release "${options[@]}") >"$logs/configure.log" 2>&1 </dev/null ||
    fail "CMake could not configure: $(sed -n '/CMake Error/,$p' "$logs/configure.log" | sed -n '2,/^$/p' | tr -s ' \n' ' ')" "$logs/configure.log"
  printf '%s\n' "$key" "${*:2}" >"$stamp"
  staged "done"
}

# compile TARGET…
compile() {
  local n
  n=$(jobs)
  stage "Build with $n jobs"
  if ! cmake --build "$build" -j "$n" --target "$@" >&2 </dev/null; then
    if [ "$(free_megabytes "$build")" -lt 100 ]; then
      fail "the disk that holds $build is full: make room there, then run this again"
    fi
    fail "the build failed: the compiler's messages are above; to repeat it: cmake --build build"
  fi
  staged "built"
}
