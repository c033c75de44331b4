# SPDX-License-Identifier: MIT
# shellcheck shell=bash disable=SC2034
# What setup.sh unpacks, the only place where these versions are written: wheels of the Python package index, and the package
# with ONNX Runtime's headers (its wheel has none), by its place below a Debian mirror and its SHA-256.
TORCH_WHEELS="torch==2.15.0 nvidia-cuda-runtime==13.2.86 nvidia-cuda-cupti==13.2.86"
WHEEL_PYTHON=3.12   # which build of a wheel is taken; no interpreter of this version is needed
ONNXRUNTIME_WHEEL="onnxruntime==1.31.1"
ONNXRUNTIME_HEADERS=pool/main/o/onnxruntime/libonnxruntime-dev_1.21.0+dfsg-1_amd64.deb
ONNXRUNTIME_HEADERS_SHA256=14f7d959d5deacbcf1504830d4189f91fc67382b399ed9ae9d3aa9c4050ced08
OPENVINO_WHEEL="openvino==2026.4.1"
# For checks: the engines' own Python (for the python3 that runs them) and packages that ship ONNX files.
CHECK_WHEELS="numpy==2.4.6 $ONNXRUNTIME_WHEEL $OPENVINO_WHEEL rapidocr-onnxruntime==1.4.4 silero-vad==6.2.3 magika==1.0.3 scikit-learn==1.9.1"
PLOTLY_WHEEL="plotly==7.1.0"
