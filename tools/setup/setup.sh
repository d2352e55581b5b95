# shellcheck shell=bash
# What ./run, ./test and .ci/run share. This file: progress, one-sentence failures, waiting for long jobs, rights; the files
# sourced at its end: Debian packages, LibTorch and Python, the build.
# Progress goes to standard error, so that standard output holds the program's own report and nothing else.

set -euo pipefail

root=$(CDPATH="" cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
build=$root/build
logs=$build/logs
# Not one of the exit codes of `lockstep run`.
readonly setup_failed=10

say() { printf '%s\n' "$*" >&2; }

# fail SENTENCE [LOG]
fail() {
  say "error: $1"
  if [ -n "${2:-}" ]; then say "       the whole output is in ${2#"$root"/}"; fi
  exit "$setup_failed"
}

stage_started=0
stage() { # stage TITLE: what is done now
  stage_started=$SECONDS
  say "==> $1"
}
staged() { say "    $1 ($((SECONDS - stage_started)) s)"; }

have() { command -v "$1" >/dev/null 2>&1; }

# at_least WANTED FOUND: versions, compared number by number
at_least() { [ "$(printf '%s\n%s\n' "$1" "$2" | sort -V | head -n 1)" = "$1" ]; }

# The lines of a list without comments.
entries() { sed -e 's/#.*//' -e '/^[[:space:]]*$/d' "$@"; }

free_megabytes() { df -Pk "$1" | awk 'NR == 2 { print int($4 / 1024) }'; }

# need_space MEGABYTES PURPOSE
need_space() {
  local free
  free=$(free_megabytes "$build")
  if [ "$free" -lt "$1" ]; then
    fail "$2 needs about $1 MB on the disk that holds $build and only $free MB are free: make room there, or clone onto another disk"
  fi
}

job=
stop_job() { if [ -n "$job" ]; then kill "$job" 2>/dev/null || true; fi; }
trap stop_job EXIT
set -E
trap 'fail "the set-up stopped at line $LINENO of ${BASH_SOURCE[0]#"$root"/}, which is a defect of it: report that line and the output above"' ERR
trap 'exit 130' INT TERM

# with_progress LOG FOLDER COMMAND…: runs it with its output in LOG; says every 10 s (on a terminal every second) that it
# goes on and how large FOLDER has become.
with_progress() {
  local log=$1 folder=$2 started=$SECONDS last=$SECONDS every=10 line code=0
  shift 2
  if [ -t 2 ]; then every=1; fi
  "$@" >"$log" 2>&1 </dev/null &
  job=$!
  while kill -0 "$job" 2>/dev/null; do
    sleep 0.2
    if [ $((SECONDS - last)) -lt $every ]; then continue; fi
    last=$SECONDS
    line="    … $((SECONDS - started)) s, $(du -sm "$folder" "$build/tmp" 2>/dev/null | awk '{ s += $1 } END { print s + 0 }') MB"
    if [ -t 2 ]; then printf '\r%s ' "$line" >&2; else say "$line"; fi
  done
  if [ -t 2 ] && [ "$last" -gt "$started" ]; then printf '\r\033[K' >&2; fi
  wait "$job" || code=$?
  job=
  return $code
}

# Run through sudo on the caller's own tree: everything but the Debian packages is done as the caller, who owns the files.
# become_caller COMMAND…: what to start anew
become_caller() {
  if [ "$(id -u)" -ne 0 ] || [ "${SUDO_UID:-0}" = 0 ] || [ "$(stat -c %u "$root")" != "$SUDO_UID" ]; then return 0; fi
  local home
  home=$(getent passwd "$SUDO_UID" | cut -d: -f6)
  exec setpriv --reuid="$SUDO_UID" --regid="${SUDO_GID:?}" --init-groups \
    env -u SUDO_UID -u SUDO_GID HOME="${home:-/}" USER="${SUDO_USER:-}" LOGNAME="${SUDO_USER:-}" "$@"
}

# Makes build/ and lets one set-up at a time work in it, until close_build.
open_build() {
  if ! mkdir -p "$logs" 2>/dev/null || ! [ -w "$build" ] || ! [ -w "$logs" ]; then
    fail "$build cannot be written to by $(id -un): remove it, or give it to yourself with sudo chown -R $(id -un) build"
  fi
  exec 9>"$build/.lock"
  if have flock && ! flock -n 9; then
    say "    another ./run or ./test works in build/; waiting for it"
    flock 9
  fi
}
close_build() { exec 9>&-; }

# usage SCRIPT: the comment at its top
usage() { awk 'NR > 1 && !/^#/ { exit } NR > 1 { sub(/^# ?/, ""); print }' "$1"; }

# shellcheck source=tools/setup/packages.sh
. "$root/tools/setup/packages.sh"
# shellcheck source=tools/setup/python.sh
. "$root/tools/setup/python.sh"
# shellcheck source=tools/setup/build.sh
. "$root/tools/setup/build.sh"
