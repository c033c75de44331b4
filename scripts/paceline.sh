# SPDX-License-Identifier: MIT
# shellcheck shell=bash disable=SC2034
# Sourced by the scripts that only call paceline: finds the tool, reads the usage line, prints each call.

# The folder above scripts/: of the sources, of a bundle, or <prefix>/share/paceline of an installation.
paceline_root=$(cd -- "$(dirname -- "$(readlink -f -- "${BASH_SOURCE[0]}")")/.." && pwd)

# refuse CODE MESSAGE…: without the control characters of variables and arguments, which a terminal would obey.
refuse() {
  local code=$1 text
  shift
  text=$(printf '%s\n' "$*" | LC_ALL=C sed -e ':a' -e '$!{N;ba' -e '}' -e 's/[\x01-\x1f\x7f]\|\xc2[\x80-\x9f]\|\xe2\x80[\xa8-\xae]\|\xe2\x81[\xa6-\xa9]/?/g')
  printf '%s: %s\n' "$(basename -- "$0")" "$text" >&2
  exit "$code"
}

# arguments LEAST "$@": prints the comment at the top of the script for --help; exit 2 where there are fewer arguments than LEAST.
arguments() {
  local least=$1
  shift
  case ${1:-} in
    -h | --help) sed -n '3,/^[^#]/ s/^# \{0,1\}//p' "$0"; exit 0 ;;
  esac
  [ $# -ge "$least" ] || { sed -n 's/^# \(usage: \)/\1/p' "$0" >&2; exit 2; }
}

# whole_number NAME VALUE: exit 2 unless VALUE is a whole number from 1.
whole_number() {
  case $2 in
    *[!0-9]* | '' | 0*) refuse 2 "$1 is '$2', and should be a whole number such as 2; $(sed -n 's/^# \(usage: \)/\1/p' "$0")" ;;
  esac
}

# Prints the tool: $PACELINE, else that of the bundle, of the build, of the installation, of PATH.
find_paceline() {
  local candidate
  if [ -n "${PACELINE:-}" ]; then
    type -P -- "$PACELINE" || refuse 2 "PACELINE='$PACELINE' is no program; set it to the file of paceline, or unset it"
    return
  fi
  for candidate in "$paceline_root/paceline" "$paceline_root/build/release/bin/paceline" "${paceline_root%/share/paceline}/bin/paceline"; do
    if [ -f "$candidate" ] && [ -x "$candidate" ]; then echo "$candidate"; return; fi
  done
  type -P paceline || refuse 77 "there is no paceline in $paceline_root/build/release/bin and none on PATH; build it with 'make tool', or set PACELINE to the file"
}

# show COMMAND…: prints a command as it can be typed again.
show() { printf '+%s\n' "$(printf ' %q' "$@")" >&2; }

# paceline ARGUMENT…: prints the call, then takes its place, so that signals reach the tool.
paceline() {
  local tool
  tool=$(find_paceline) || exit
  show "$tool" "$@"
  exec "$tool" "$@"
}

# engine_arguments ENGINE: sets `engine` to the arguments of infer for a model file, or for an engine's name, which then runs MODEL (resnet50).
engine_arguments() {
  case $1 in
    -*) refuse 2 "'$1' is no engine; $(sed -n 's/^# \(usage: \)/\1/p' "$0")" ;;
    *.* | */*)
      [ -e "$1" ] || refuse 2 "there is no file '$1'"
      engine=(--model "$1") ;;
    *) engine=(--model "${MODEL:-resnet50}" --engine "$1") ;;
  esac
}

# cuda_program NAME: prints a program of the CUDA toolkit: of PATH, else below CUDA_HOME, else where toolkits are installed.
cuda_program() {
  local folder
  type -P "$1" && return
  for folder in ${CUDA_HOME:+"$CUDA_HOME/bin"} /usr/local/cuda/bin /opt/nvidia/nsight-compute/*; do
    if [ -x "$folder/$1" ]; then echo "$folder/$1"; return; fi
  done
  return 1
}
