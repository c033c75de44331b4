# SPDX-License-Identifier: MIT
# shellcheck shell=bash disable=SC2034
# What setup.sh unpacks, the only place where these versions are written: wheels of the Python package index, and the package
# with ONNX Runtime's headers (its wheel has none), by its place below a Debian mirror and its SHA-256.
TORCH_VERSION=2.15.0
OLDEST_TORCH_VERSION=2.11.0   # bundles are built for it too
TORCH_RELEASES=$TORCH_VERSION,$OLDEST_TORCH_VERSION   # a wheel has plug-ins for each
ATTACH_RELEASES=2.7.1,2.4.1   # a wheel of ours also attaches to jobs with these
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
# What notebooks/analysis.ipynb is executed with, the packages that these need included.
NOTEBOOK_WHEELS="asttokens==3.0.2 attrs==26.1.0 comm==0.2.3 contourpy==1.3.3 cycler==0.12.1 debugpy==1.8.22 executing==2.3.0 \
  fastjsonschema==2.22.3 fonttools==4.68.0 ipykernel==7.4.0 ipython==9.18.1 ipython-pygments-lexers==1.1.1 jedi==0.20.1 \
  jsonschema==4.26.0 jsonschema-specifications==2025.9.1 jupyter-client==8.10.0 jupyter-core==5.9.1 kiwisolver==1.5.1 \
  matplotlib==3.11.2 matplotlib-inline==0.2.2 nbclient==0.11.0 nbformat==5.11.1 nest-asyncio2==1.7.4 numpy==2.4.6 \
  packaging==26.3 pandas==3.1.1 parso==0.8.7 pexpect==4.9.0 pillow==13.0.0 platformdirs==4.14.7 prompt-toolkit==3.0.53 \
  psutil==7.2.2 ptyprocess==0.7.0 pure-eval==0.2.4 pygments==2.21.0 pyparsing==3.3.3 python-dateutil==4.0.0 pyzmq==27.3.0 \
  referencing==0.37.0 rpds-py==2026.9.1 stack-data==0.6.3 tornado==6.6.1 traitlets==5.16.1 typing-extensions==4.16.0 \
  tzdata==2026.6 wcwidth==0.9.4"
# What builds the site (scripts/site.sh): what MkDocs and its theme import.
SITE_WHEELS="mkdocs==1.6.1 mkdocs-material==9.8.2 pymdown-extensions==13.1.2 markdown==3.11.3 pygments==2.21.0 jinja2==3.1.6 markupsafe==3.0.4 \
  babel==2.19.0 backrefs==8.3.1 click==8.5.1 colorama==0.4.6 mergedeep==1.3.4 pathspec==1.1.1 pyyaml==6.0.4 pyyaml-env-tag==1.1"
# What torchrun imports beside PyTorch itself.
TORCHRUN_WHEELS="typing-extensions==4.15.0 sympy==1.14.0 mpmath==1.3.0 filelock==3.20.0 jinja2==3.1.6 markupsafe==3.0.3 networkx==3.5 fsspec==2025.10.0 setuptools==80.9.0"
