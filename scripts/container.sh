#!/bin/sh
# SPDX-License-Identifier: MIT
# The entry point of the images: words for paceline, or a program of the image with its arguments (/bin/bash, nvidia-smi).
case "${1-}" in
  */* | sh | bash | env | paceline | python3 | mpirun | torchrun | nvidia-smi | nsys | ncu) exec "$@" ;;
esac
exec paceline "$@"
