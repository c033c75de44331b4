#!/bin/sh
# SPDX-License-Identifier: MIT
# The entry point of the images: words for paceline, or a program of the image with its arguments (/bin/bash, nvidia-smi).
# A script of Paceline that the current folder does not have is the image's: ./scripts/build.sh.
case "${1-}" in
  ./scripts/* | scripts/*)
    if [ ! -e "$1" ]; then
      own=$(dirname "$0")/../${1#./}
      shift
      exec "$own" "$@"
    fi ;;
esac
case "${1-}" in
  */* | sh | bash | env | paceline | python3 | mpirun | torchrun | nvidia-smi | nsys | ncu) exec "$@" ;;
esac
exec paceline "$@"
