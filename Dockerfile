# SPDX-License-Identifier: MIT
# docker build -t paceline .                       the tool with its engines for CPUs
# docker build -t paceline:cuda --target cuda .    on CUDA and TensorRT; was never built or run, for want of a GPU
# docker run --rm -v "$PWD:/work" paceline infer --model resnet50        docker run --gpus all --shm-size 8g … paceline:cuda …
# docker run --rm -it paceline /bin/bash           a shell in the image
# docs/containers.md says what a container changes in measurements.
ARG CPU_BASE=debian:12-slim
ARG CUDA_BASE=nvcr.io/nvidia/tensorrt:25.08-py3

FROM ${CUDA_BASE} AS cuda
ENV DEBIAN_FRONTEND=noninteractive
RUN apt-get update && apt-get install -y --no-install-recommends git make python3 python3-pip python3-venv ca-certificates
WORKDIR /opt/paceline
COPY . .
# PyTorch in full: set-up by itself leaves the CUDA libraries out that LibTorch needs on a device.
RUN python3 -m venv /opt/torch && . scripts/versions.sh && /opt/torch/bin/python3 -m pip install --no-cache-dir "torch==$TORCH_VERSION"
ENV VIRTUAL_ENV=/opt/torch CUDA_HOME=/usr/local/cuda
RUN make --no-print-directory install PREFIX=/usr/local
RUN paceline --version
# Scripts have their relative names in this folder too: ./scripts/build.sh.
RUN mkdir -p /work && ln -s /opt/paceline/scripts /work/scripts
WORKDIR /work
ENTRYPOINT ["/opt/paceline/scripts/container.sh"]
CMD ["--help"]

FROM ${CPU_BASE} AS cpu
ENV DEBIAN_FRONTEND=noninteractive
RUN apt-get update && apt-get install -y --no-install-recommends git make python3 ca-certificates
WORKDIR /opt/paceline
COPY . .
RUN make --no-print-directory install PREFIX=/usr/local
RUN paceline --version
# Scripts have their relative names in this folder too: ./scripts/build.sh.
RUN mkdir -p /work && ln -s /opt/paceline/scripts /work/scripts
WORKDIR /work
ENTRYPOINT ["/opt/paceline/scripts/container.sh"]
CMD ["--help"]
