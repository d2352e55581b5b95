#!/usr/bin/env bash
# Runs ./run and ./test in copies of the tree, with the stand-ins of stand_ins.sh as their whole world.
set -uo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
top=$(cd "$here/../.." && pwd)
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
# shellcheck source=tests/setup/stand_ins.sh
. "$here/stand_ins.sh"
make_stand_ins "$scratch/bin"

passed=0 failed=0 tree=

# A new copy of what the scripts consist of.
new_tree() {
  tree=$(mktemp -d "$scratch/tree.XXXX")
  mkdir "$tree/tools"
  cp "$top/run" "$top/test" "$tree"
  cp -r "$top/tools/setup" "$tree/tools"
}

# call SCRIPT [VARIABLE=VALUE]… [-- ARGUMENT…]: output in $out and $err, exit code in $code, calls of stand-ins in $calls
call() {
  local script=$1 environment=()
  shift
  while [ $# -gt 0 ] && [ "$1" != -- ]; do
    environment+=("$1")
    shift
  done
  [ $# -eq 0 ] || shift
  : >"$scratch/calls"
  code=0
  (cd "${from:-$tree}" && env -i HOME="$scratch" PATH="$scratch/bin" CALLS="$scratch/calls" "${environment[@]}" \
    "$tree/$script" "$@" >"$scratch/out" 2>"$scratch/err") || code=$?
  out=$(cat "$scratch/out") err=$(cat "$scratch/err") calls=$(cat "$scratch/calls")
}

# property NAME COMMAND…: holds if COMMAND succeeds
property() {
  local name=$1
  shift
  if "$@"; then
    passed=$((passed + 1))
  else
    failed=$((failed + 1))
    printf 'FAILED: %s (exit code %s)\n%s\n%s\n%s\n' "$name" "$code" "$out" "$err" "$calls"
  fi
}

# The set-up failed with one sentence that says all of the given words.
fails_with() {
  local word
  [ "$code" = 10 ] && [ "$(grep -c '^error: ' <<<"$err")" = 1 ] || return 1
  for word in "$@"; do grep '^error: ' <<<"$err" | grep -qF -- "$word" || return 1; done
}
called() { grep -qF -- "$1" <<<"$calls"; }
never_called() { ! called "$1"; }
prints() { grep -qF -- "$1" <<<"$out"; }
both() { "$1" "$2" && "$3" "$4"; }
exits() { [ "$code" = "$1" ]; }

new_tree
call run
property "the first run installs, configures, builds and runs the default pipeline" \
  eval 'exits 0 && called "torch==2.13.0" && called "cmake --preset release" && prints "run pipelines/gemma4.toml"'
property "LibTorch comes without the packages that only its Python side needs" called "--no-deps torch==2.13.0"
property "the program's output is all that is on standard output" [ "$(wc -l <"$scratch/out")" = 1 ]
call run
property "a second run installs and configures nothing" \
  eval 'exits 0 && never_called "pip install" && never_called "venv" && never_called "cmake --preset" && called "cmake --build"'
call run FAKE_EXIT=1
property "the program's exit code is handed on" exits 1
call run -- my.toml --json r.json
property "arguments replace the default pipeline" prints "run my.toml --json r.json"
call run -- --json r.json
property "options alone keep the default pipeline" prints "run pipelines/gemma4.toml --json r.json"
from=$scratch call run -- my.toml
property "a pipeline is found from the caller's folder" prints "program $scratch run my.toml"

call test
property "./test adds the tests' Python and turns the live tests on" \
  eval 'exits 0 && called "requirements-test.txt" && called "LOCKSTEP_LIVE_TESTS=ON" && called "ctest --preset release"'
property "./test leaves the installed LibTorch alone" never_called "--no-deps torch"
call test -- -R tokenizer
property "a second ./test only builds and tests, with the options given" \
  eval 'never_called "pip install" && never_called "cmake --preset" && called "-R tokenizer"'
call run
property "./run after ./test does not configure again" never_called "cmake --preset"
call run LOCKSTEP_TORCH_VERSION=2.14.1
property "another LibTorch is installed and configured anew" both called "torch==2.14.1" called "cmake --preset release --fresh"

new_tree
mkdir -p "$scratch/mine/include/ATen/core"
: >"$scratch/mine/include/ATen/core/Tensor.h"
call run CMAKE_PREFIX_PATH="/usr/nothing:$scratch/mine"
property "CMAKE_PREFIX_PATH with a LibTorch installs none" eval 'exits 0 && never_called "pip install" && called "cmake --preset"'
call run LOCKSTEP_PIP_INDEX=file:///index CMAKE_PREFIX_PATH=/usr/nothing
property "LOCKSTEP_PIP_INDEX names the index of LibTorch" called "--index-url file:///index --no-deps torch"

new_tree
call run FAKE_PIP=offline
property "offline, pip" fails_with "go online" LOCKSTEP_PIP_INDEX
property "an installation that failed leaves no stamp" [ ! -e "$tree/build/libtorch/.complete" ]
call run
property "an installation that failed is started anew" eval 'exits 0 && called "-m venv" && called "pip install"'

new_tree
call run FAKE_PIP=full
property "disk full while installing" fails_with "is full" "make room"
call run FAKE_PIP=none
property "no wheel for this Python" fails_with "no torch==2.13.0" "Python 3.11.2" CMAKE_PREFIX_PATH
call run FAKE_PIP=odd
property "an unknown failure of pip shows its last words" fails_with "something else"
call run FAKE_FREE=300
property "too little disk is told before the download" eval 'fails_with "only 300 MB are free" && never_called "pip install"'
call run FAKE_PYTHON=3.9
property "Python too old" fails_with "python3 is 3.9" "3.10 or newer"
call run FAKE_CMAKE=3.18.4
property "CMake too old" fails_with "cmake is 3.18.4" "3.25"
call run FAKE_GCC=11
property "compiler too old" fails_with "gcc 11" "CXX"
call run FAKE_BUILD=broken
property "a build that fails" fails_with "messages are above"
call run FAKE_BUILD=broken FAKE_FREE=50
property "disk full while building" fails_with "is full"
call test LOCKSTEP_PYTHON=/nowhere/python
property "a LOCKSTEP_PYTHON that does not serve" fails_with "/nowhere/python" "transformers"

new_tree
call run FAKE_MISSING="libfmt-dev libpng-dev"
property "missing packages are installed, and only those" called "install -y --no-install-recommends libfmt-dev libpng-dev"
call run FAKE_MISSING=catch2
property "./run does without the tests' packages" never_called "apt-get"
call test FAKE_MISSING=catch2
property "./test installs the tests' packages" called "--no-install-recommends catch2"
call run FAKE_MISSING=libfmt-dev FAKE_UID=1000
property "packages missing, no rights, no sudo" fails_with "as root, run: apt-get install libfmt-dev"
call run FAKE_MISSING=libfmt-dev FAKE_APT=offline
property "offline, apt-get" fails_with "go online" libfmt-dev
call run FAKE_MISSING=libfmt-dev FAKE_APT=locked
property "another program holds the package lock" fails_with "wait for it"
call run FAKE_MISSING=libfmt-dev FAKE_APT=full
property "disk full, apt-get" fails_with "make room"
call test FAKE_MISSING=catch2 FAKE_APT=unknown
property "a package that this release does not have" fails_with "knows no package catch2"
# shellcheck disable=SC2016
stand_in "$scratch/bin/sudo" 'record sudo "$@"; [ "$1" = -v ] || "$@"'
call run FAKE_MISSING=libfmt-dev FAKE_UID=1000
property "without root's rights, sudo installs" called "sudo env DEBIAN_FRONTEND=noninteractive apt-get install"
rm "$scratch/bin/sudo" "$scratch/bin/apt-get" "$scratch/bin/dpkg-query"
call run
property "not Debian, the tools are there: CMake decides" eval 'exits 0 && called "cmake --build"'
mv "$scratch/bin/ninja" "$scratch/bin/hidden"
call run
property "not Debian, a tool is missing: what to install by hand" fails_with "by hand" ninja-build libtomlplusplus-dev
mv "$scratch/bin/python3" "$scratch/bin/hidden"
call run
property "not Debian and no Python" fails_with "by hand" python3

echo "$passed passed, $failed failed"
[ $failed -eq 0 ]
