# shellcheck shell=bash
# Debian packages: finds what is missing and installs it.

# missing_packages LIST…: names, one a line
missing_packages() {
  local package command
  entries "$@" | while read -r package command; do
    if [ -n "$command" ] && have "$command"; then continue; fi
    if have dpkg-query && dpkg-query -W -f '${db:Status-Status}\n' "$package" 2>/dev/null | grep -qx installed; then continue; fi
    echo "$package"
  done
  # Any Python 3 with venv will do, so Debian's is asked for only where there is none.
  if ! have python3 || ! python3 -c 'import ensurepip, venv' 2>/dev/null; then
    echo python3
    echo python3-venv
  fi
}

# install_packages LIST…
install_packages() {
  stage "Debian packages"
  local missing as_root=() log
  mapfile -t missing < <(missing_packages "$@")
  if ! have apt-get; then
    if [ -z "$(missing_commands "$@")" ]; then
      staged "no apt-get here; the tools are there, CMake will say if a library is not"
      return
    fi
    fail "there is no apt-get to install packages with: install by hand what these Debian packages hold, then run this again: ${missing[*]}"
  fi
  if [ ${#missing[@]} -eq 0 ]; then
    staged "all there"
    return
  fi
  if [ "$(id -u)" -ne 0 ]; then
    have sudo || fail "these packages are missing and there is no sudo: as root, run: apt-get install ${missing[*]}"
    sudo -v || fail "installing packages needs root's rights: have sudo let you, or as root, run: apt-get install ${missing[*]}"
    as_root=(sudo)
  fi
  say "    installing ${missing[*]}"
  log=$(mktemp)
  # A failed update does no harm where the lists at hand are good enough; the installation tells.
  with_progress "$log" /nonexistent "${as_root[@]}" apt-get update || true
  if ! with_progress "$log" /nonexistent "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive \
    apt-get install -y --no-install-recommends "${missing[@]}"; then
    explain_apt_failure "$log" "${missing[*]}"
  fi
  rm -f "$log"
  staged "installed"
}

missing_commands() {
  local package command
  entries "$@" | while read -r package command; do
    if [ -n "$command" ] && ! have "$command"; then echo "$package"; fi
  done
  if ! have python3; then echo python3; fi
}

explain_apt_failure() {
  local log=$1 packages=$2 unknown
  unknown=$(sed -n 's/^E: Unable to locate package //p' "$log" | tr '\n' ' ')
  if grep -qE "Could not get lock|Unable to acquire" "$log"; then
    fail "another program is installing packages: wait for it to end, then run this again" "$log"
  elif grep -qE "No space left|not have enough free space" "$log"; then
    fail "the disk is too full to install packages: make room (apt-get clean helps), then run this again" "$log"
  elif grep -qE "Temporary failure resolving|Could not resolve|Could not connect|Failed to fetch|Network is unreachable" "$log"; then
    fail "apt-get cannot reach Debian's servers: go online or configure its proxy, then run this again; missing are: $packages" "$log"
  elif [ -n "$unknown" ]; then
    fail "apt-get knows no package ${unknown% }: run apt-get update while online, or use Debian 12 or newer" "$log"
  fi
  fail "apt-get could not install $packages: see its last words, mend that, then run this again: $(tail -n 1 "$log")" "$log"
}
