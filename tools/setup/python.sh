# shellcheck shell=bash
# LibTorch and the Python of the live tests: two virtual environments under build/, each with a stamp that is written last.

torch_version=${LOCKSTEP_TORCH_VERSION:-2.13.0}
libtorch=$build/libtorch
test_python=$build/test-python

# The root of the LibTorch that CMAKE_PREFIX_PATH names, or nothing.
given_libtorch() {
  local prefix folder
  local IFS=':;'
  for prefix in ${CMAKE_PREFIX_PATH:-}; do
    for folder in "$prefix" "$prefix/../.." "$prefix/torch"; do
      if [ -e "$folder/include/ATen/core/Tensor.h" ]; then
        (cd "$folder" && pwd)
        return
      fi
    done
  done
}

libtorch_root() {
  local given
  given=$(given_libtorch)
  if [ -n "$given" ]; then echo "$given"; else echo "$libtorch"/lib/python3*/site-packages/torch; fi
}

# The version that its headers tell: 2.13.0
libtorch_version() {
  local headers
  headers=$(libtorch_root)/include/torch
  cat "$headers/headeronly/version.h" "$headers/csrc/api/include/torch/version.h" 2>/dev/null |
    awk '/define TORCH_VERSION_(MAJOR|MINOR|PATCH) / { v = v (v == "" ? "" : ".") $3 } END { print v }' || true
}

stamped() { [ -f "$1/.complete" ] && [ "$(cat "$1/.complete")" = "$2" ]; }

need_python() {
  local version
  have python3 || fail "python3 was not found: install Python 3.10 or newer"
  version=$(python3 -c 'import sys; print("%d.%d" % sys.version_info[:2])' 2>/dev/null) ||
    fail "python3 does not start: $(command -v python3) is broken, put another Python 3.10 or newer first in PATH"
  at_least 3.10 "$version" ||
    fail "python3 is $version and LibTorch $torch_version needs 3.10 or newer: put a newer python3 first in PATH, or point CMAKE_PREFIX_PATH at a LibTorch"
}

# new_environment FOLDER
new_environment() {
  need_python
  rm -rf "$1"
  with_progress "$logs/venv.log" "$1" python3 -m venv "$1" ||
    fail "python3 -m venv failed: install python3-venv for $(command -v python3)" "$logs/venv.log"
}

# pip_install FOLDER LOG ARGUMENT…
pip_install() {
  local folder=$1 log=$2
  shift 2
  mkdir -p "$build/tmp"
  local code=0
  TMPDIR=$build/tmp with_progress "$log" "$folder" "$folder/bin/python" -m pip install --disable-pip-version-check \
    --no-input --progress-bar off "$@" || code=$?
  rm -rf "$build/tmp"
  if [ $code -ne 0 ]; then explain_pip_failure "$folder" "$log" "$*"; fi
}

explain_pip_failure() {
  local folder=$1 log=$2 wanted=$3
  if grep -qE "No space left on device|Disk quota exceeded" "$log"; then
    fail "the disk that holds $build is full: make room there, then run this again" "$log"
  elif grep -qiE "NewConnectionError|NameResolutionError|(Connect|Read)Timeout|ProxyError|Connection (refused|reset|aborted)|SSLError|Network is unreachable" "$log"; then
    fail "pip cannot reach its package index: go online, set a proxy, or name a reachable index in LOCKSTEP_PIP_INDEX (LibTorch) and PIP_INDEX_URL (all else), then run this again" "$log"
  elif grep -q "No matching distribution found" "$log"; then
    fail "the package index has no $(sed -n 's/.*No matching distribution found for \([^ ]*\).*/\1/p' "$log" | head -n 1) for $("$folder/bin/python" -V 2>&1) on $(uname -m): use a Python that it has one for, or point CMAKE_PREFIX_PATH at a LibTorch" "$log"
  fi
  fail "pip could not install $wanted: $(grep -v '^$' "$log" | tail -n 1)" "$log"
}

unresolved() { ldd "$1" 2>/dev/null | awk '/not found/ { print $1 }'; }

# Lockstep uses libtorch_cpu.so and libc10.so and no Python, so the wheel comes without its dependencies. In a CUDA build
# libtorch_cpu.so names two small CUDA libraries; they come along without the gigabytes that CUDA itself needs.
install_libtorch() {
  local wanted="torch==$torch_version" index=() library version
  stage "LibTorch"
  if [ -n "$(given_libtorch)" ]; then
    staged "using $(given_libtorch) from CMAKE_PREFIX_PATH"
    return
  fi
  if stamped "$libtorch" "$wanted"; then
    staged "$torch_version, installed"
    return
  fi
  need_space 2500 "LibTorch"
  say "    installing the wheel $wanted into build/libtorch (190 MB to download; a CUDA build, where the index has no other, 550 MB)"
  new_environment "$libtorch"
  if [ -n "${LOCKSTEP_PIP_INDEX:-}" ]; then index=(--index-url "$LOCKSTEP_PIP_INDEX"); fi
  pip_install "$libtorch" "$logs/libtorch.log" "${index[@]}" --no-deps "$wanted"
  library=$(libtorch_root)/lib/libtorch_cpu.so
  [ -e "$library" ] || fail "the wheel $wanted holds no libtorch_cpu.so: remove build/libtorch and name another index in LOCKSTEP_PIP_INDEX"
  if [ -n "$(unresolved "$library")" ]; then
    version=$("$libtorch/bin/python" -c 'from importlib.metadata import requires
print(next((r.split("==")[1].split(";")[0].strip() for r in requires("torch") if r.startswith("cuda-toolkit[")), ""))')
    if [ -n "$version" ]; then
      say "    a CUDA build: adding the CUDA libraries that its CPU half needs"
      pip_install "$libtorch" "$logs/libtorch-cuda.log" "cuda-toolkit[cudart,cupti]==$version"
    fi
  fi
  if [ -n "$(unresolved "$library")" ]; then
    say "    a CUDA build: adding all CUDA libraries (several GB)"
    need_space 8000 "a CUDA build of LibTorch"
    pip_install "$libtorch" "$logs/libtorch-cuda.log" "${index[@]}" "$wanted"
  fi
  [ -z "$(unresolved "$library")" ] ||
    fail "LibTorch needs $(unresolved "$library" | tr '\n' ' ')and no package brought it: name an index with CPU builds in LOCKSTEP_PIP_INDEX, then remove build/libtorch and run this again"
  echo "$wanted" >"$libtorch/.complete"
  staged "installed $torch_version"
}

# Sets live_python. Both sides use one LibTorch: the tests' Python imports the torch that the program links, if it can.
live_python=
install_test_python() {
  local torch lists=("$root/tools/setup/requirements-test.txt" "$root/tools/setup/requirements-test-nodeps.txt") wanted site linked
  local imports='import torch, transformers, tokenizers, safetensors' log=$logs/import-torch.log
  stage "Python for the live tests"
  if [ -n "${LOCKSTEP_PYTHON:-}" ]; then
    live_python=$LOCKSTEP_PYTHON
    "$live_python" -c "$imports" 2>"$log" ||
      fail "LOCKSTEP_PYTHON=$live_python cannot import torch, transformers, tokenizers and safetensors: install them there, or unset it" "$log"
    staged "using LOCKSTEP_PYTHON"
    return
  fi
  live_python=$test_python/bin/python
  torch="torch==$(libtorch_version)"
  linked=$(cd "$(libtorch_root)/.." && pwd)
  wanted=$(printf '%s\n' "$torch" "$linked" && entries "${lists[@]}")
  if stamped "$test_python" "$wanted" && "$live_python" -c '' 2>/dev/null; then
    staged "installed"
    return
  fi
  need_space 2500 "the Python of the live tests"
  say "    installing $(entries "${lists[@]}" | tr '\n' ' ')into build/test-python"
  new_environment "$test_python"
  pip_install "$test_python" "$logs/test-python.log" -r "${lists[0]}"
  pip_install "$test_python" "$logs/test-python-nodeps.log" --no-deps -r "${lists[1]}"
  site=$("$live_python" -c 'import sysconfig; print(sysconfig.get_path("purelib"))')
  echo "$linked" >"$site/lockstep-libtorch.pth"
  if ! "$live_python" -c 'import torch' 2>"$log"; then
    # An unpacked libtorch has no Python side; a CUDA build's needs all CUDA libraries.
    say "    the LibTorch that the program links cannot be imported from Python: installing $torch beside it"
    rm "$site/lockstep-libtorch.pth"
    pip_install "$test_python" "$logs/test-python-torch.log" ${LOCKSTEP_PIP_INDEX:+--extra-index-url "$LOCKSTEP_PIP_INDEX"} "$torch"
  fi
  "$live_python" -c "$imports" 2>"$log" ||
    fail "what was installed into build/test-python cannot be imported: remove that folder and run this again; $(tail -n 1 "$log")" "$log"
  echo "$wanted" >"$test_python/.complete"
  staged "installed"
}
