# SPDX-License-Identifier: MIT
# shellcheck shell=bash disable=SC2034
# What setup.sh unpacks, the only place where these versions are written: wheels of the Python package index, and the package
# with ONNX Runtime's headers (its wheel has none), by its place below a Debian mirror and its SHA-256.
TORCH_VERSION=2.15.0
OLDEST_TORCH_VERSION=2.11.0   # bundles are built for it too
TORCH_WHEELS="torch==$TORCH_VERSION nvidia-cuda-runtime==13.2.86 nvidia-cuda-cupti==13.2.86"
WHEEL_PYTHON=3.12   # which build of a wheel is taken; no interpreter of this version is needed
# PyTorch's build is that of the machine's python3 where there is one, so that torchrun can be tested.
case $(python3 -c 'import sys; print("%d.%d" % sys.version_info[:2])' 2> /dev/null) in 3.11) TORCH_PYTHON=3.11 ;; *) TORCH_PYTHON=3.12 ;; esac
ONNXRUNTIME_WHEEL="onnxruntime==1.31.1"
ONNXRUNTIME_HEADERS=pool/main/o/onnxruntime/libonnxruntime-dev_1.21.0+dfsg-1_amd64.deb
ONNXRUNTIME_HEADERS_SHA256=14f7d959d5deacbcf1504830d4189f91fc67382b399ed9ae9d3aa9c4050ced08
OPENVINO_WHEEL="openvino==2026.4.1"
# For checks: the engines' own Python (for the python3 that runs them) and packages that ship ONNX files.
CHECK_WHEELS="numpy==2.4.6 $ONNXRUNTIME_WHEEL $OPENVINO_WHEEL rapidocr-onnxruntime==1.4.4 silero-vad==6.2.3 magika==1.0.3 scikit-learn==1.9.1"
# What torchrun imports beside PyTorch itself.
TORCHRUN_WHEELS="typing-extensions==4.15.0 sympy==1.14.0 mpmath==1.3.0 filelock==3.20.0 jinja2==3.1.6 markupsafe==3.0.3 networkx==3.5 fsspec==2025.10.0 setuptools==80.9.0"
PLOTLY_WHEEL="plotly==7.1.0"
