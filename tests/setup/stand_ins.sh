# shellcheck shell=bash
# shellcheck disable=SC2016
# Programs that stand in for the real ones. Each writes its call to $CALLS; FAKE_* variables choose how it ends.

# make_stand_ins FOLDER: PATH=FOLDER then holds the stand-ins and the few real programs that the scripts use, nothing else.
make_stand_ins() {
  local folder=$1 name
  mkdir -p "$folder"
  for name in awk bash cat chmod cp cut dirname du env flock getent grep head ldd mkdir mktemp mv nproc rm sed seq setpriv sleep \
    sort stat tail tr uname; do
    ln -s "$(command -v "$name")" "$folder/$name"
  done

  stand_in "$folder/dpkg-query" 'case " ${FAKE_MISSING:-} " in *" ${*: -1} "*) exit 1 ;; *) echo installed ;; esac'
  stand_in "$folder/apt-get" 'record apt-get "$@"
case ${FAKE_APT:-} in
offline) echo "E: Failed to fetch x  Temporary failure resolving" && exit 100 ;;
locked) echo "E: Could not get lock /var/lib/dpkg/lock-frontend" && exit 100 ;;
full) echo "E: You do not have enough free space in /var/cache/apt/archives/." && exit 100 ;;
unknown) echo "E: Unable to locate package catch2" && exit 100 ;;
esac'
  stand_in "$folder/python3" 'case "$*" in
*version_info*) echo "${FAKE_PYTHON:-3.11}" ;;
*ensurepip*) ;;
"-m venv "*) record "$@" && mkdir -p "$3/bin" && cp "${0%/*}/venv-python" "$3/bin/python" ;;
esac'
  stand_in "$folder/venv-python" 'here=${0%/bin/*}/lib/python3.11/site-packages
case "$*" in
-V) echo "Python 3.11.2" ;;
*"pip install"*)
  record "$@"
  case ${FAKE_PIP:-} in
  offline) echo "NewConnectionError: Network is unreachable"; echo "ERROR: No matching distribution found for torch==2.13.0"; exit 1 ;;
  full) echo "ERROR: Could not install packages due to an OSError: [Errno 28] No space left on device"; exit 1 ;;
  none) echo "ERROR: No matching distribution found for torch==2.13.0"; exit 1 ;;
  odd) echo "ERROR: something else"; exit 1 ;;
  esac
  root=$here/torch
  mkdir -p "$root/include/ATen/core" "$root/lib" && : >"$root/include/ATen/core/Tensor.h" && : >"$root/lib/libtorch_cpu.so"
  case "${*: -1}" in torch==*)
    version=${*: -1}
    read -r major minor patch < <(echo "${version#torch==}" | tr . " ")
    mkdir -p "$root/include/torch/headeronly"
    printf "#define TORCH_VERSION_%s %s\n" MAJOR "$major" MINOR "$minor" PATCH "$patch" >"$root/include/torch/headeronly/version.h" ;;
  esac ;;
*purelib*) mkdir -p "$here" && echo "$here" ;;
esac'
  stand_in "$folder/cmake" 'case "$1" in
--version) echo "cmake version ${FAKE_CMAKE:-3.25.1}" ;;
--preset) record cmake "$@" && : >build/build.ninja ;;
--build) record cmake "$@"
  [ -z "${FAKE_BUILD:-}" ] || exit 1
  mkdir -p "$2/bin" && printf "%s\n" "#!/bin/bash" "echo program \$PWD \"\$@\"" "exit \${FAKE_EXIT:-0}" >"$2/bin/lockstep" && chmod +x "$2/bin/lockstep" ;;
esac'
  stand_in "$folder/ctest" 'record ctest "$@"'
  stand_in "$folder/c++" 'case "$1" in -dumpversion) echo "${FAKE_GCC:-12}" ;; *) echo "c++ (GCC)" ;; esac'
  stand_in "$folder/ninja" ':'
  stand_in "$folder/id" 'case "$1" in -un) echo someone ;; *) echo "${FAKE_UID:-0}" ;; esac'
  stand_in "$folder/df" 'printf "%s\n" "Filesystem 1024-blocks Used Available Capacity Mounted" "disk 0 0 $((${FAKE_FREE:-99999} * 1024)) 0% /"'
}

stand_in() { # stand_in FILE SCRIPT
  # shellcheck disable=SC2016
  printf '%s\n' '#!/bin/bash' 'record() { echo "$@" >>"$CALLS"; }' "$2" >"$1"
  chmod +x "$1"
}
