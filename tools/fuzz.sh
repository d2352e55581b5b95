#!/usr/bin/env bash
# tools/fuzz.sh SECONDS [TARGET…]
#
# Builds the fuzz targets (clang) and runs each for at least SECONDS from the seeds in tests/data/fuzz, then proves that
# fuzzing would notice a bug: the same reader with one check removed must be caught. Inputs that make a target fail are kept
# in build/fuzz/failures.
set -euo pipefail
cd "$(dirname "$0")/.."

seconds=${1:?usage: tools/fuzz.sh SECONDS [TARGET…]}
shift
all=$(sed -n 's/^lockstep_add_fuzzer(fuzz_\([a-z_]*\).*/\1/p' tests/fuzz/CMakeLists.txt | grep -v '^seeded_bug$')
targets=${*:-$all}
build=build/fuzz
# The index target writes files: in memory they are a hundred times faster.
[ -w /dev/shm ] && export TMPDIR=/dev/shm
corpus=$(mktemp -d)
trap 'rm -rf "$corpus"' EXIT

if ! command -v clang++-14 >/dev/null; then
  echo "fuzz: clang++-14 is missing; install clang-14 (libFuzzer comes with it)" >&2
  exit 1
fi
cmake --preset fuzz >"$corpus/configure.log" 2>&1 || { cat "$corpus/configure.log" >&2; exit 1; }
cmake --build $build --target fuzz
mkdir -p $build/failures

# run NAME SEEDS SECONDS FLAG…: new inputs go to a corpus of its own, thrown away at the end
run() {
  local name=$1 seeds=$2 limit=$3
  shift 3
  mkdir -p "$corpus/$name"
  $build/bin/"fuzz_$name" -max_total_time="$limit" -timeout=10 -rss_limit_mb=2048 -artifact_prefix=$build/failures/"$name"- \
    -print_final_stats=1 "$@" "$corpus/$name" "tests/data/fuzz/$seeds"
}

fuzz() {
  local target=$1 dictionary=()
  [ -f "tests/fuzz/$target.dict" ] && dictionary=(-dict="tests/fuzz/$target.dict")
  if ! run "$target" "$target" "$seconds" -max_len=4096 "${dictionary[@]}" >"$corpus/$target.log" 2>&1; then
    tail -n 60 "$corpus/$target.log" >&2
    echo "fuzz: $target FAILED; the input lies in $build/failures" >&2
    return 1
  fi
  echo "fuzz: $target: $(grep -E '^Done ' "$corpus/$target.log")"
}

# As many at once as there are processors.
echo "fuzz: ${targets//$'\n'/ } for $seconds s each"
workers=()
for target in $targets; do
  while [ "$(jobs -rp | wc -l)" -ge "$(nproc)" ]; do sleep 1; done
  fuzz "$target" &
  workers+=($!)
done
failed=0
for worker in "${workers[@]}"; do wait "$worker" || failed=1; done
[ $failed = 0 ] || exit 1

echo "fuzz: looking for the seeded bug"
if run seeded_bug safetensors 300 -max_len=4096 -dict=tests/fuzz/safetensors.dict >"$corpus/log" 2>&1; then
  echo "fuzz: the seeded bug was NOT found: fuzzing as set up here would miss a real one" >&2
  exit 1
fi
if ! grep -q 'heap-buffer-overflow' "$corpus/log"; then
  tail -n 60 "$corpus/log" >&2
  echo "fuzz: the target with the seeded bug failed for another reason" >&2
  exit 1
fi
rm -f $build/failures/seeded_bug-*
echo "fuzz: the seeded bug was found"
