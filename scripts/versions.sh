# SPDX-License-Identifier: MIT
# shellcheck shell=bash disable=SC2034
# What setup.sh unpacks from the Python package index; the only place these versions are written.
TORCH_WHEELS="torch==2.15.0 nvidia-cuda-runtime==13.2.86 nvidia-cuda-cupti==13.2.86"
WHEEL_PYTHON=3.12   # which build of a wheel is taken; no interpreter of this version is needed
PLOTLY_WHEEL="plotly==7.1.0"
