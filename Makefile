# SPDX-License-Identifier: MIT
# Needs only git, make and python3; scripts/setup.sh installs the rest. `make help` lists the targets.
BUILD  := build/release
PREFIX ?= /usr/local
PLAN   ?= examples/plans/quickstart.yaml
JOBS   ?= $(shell scripts/jobs.sh)
TORCH  ?= $(shell . scripts/versions.sh; echo "$$TORCH_VERSION")
VERSION := $(shell cat VERSION)
RELEASES = $(shell . scripts/versions.sh; echo "$$TORCH_RELEASES")
# CORE=1 leaves every engine's library out; PACELINE_WERROR=ON makes compiler warnings errors; TEST_ARGS go to ctest.
CORE ?=
PACELINE_WERROR ?= OFF
TEST_ARGS ?= -LE slow
SETUP_ARGS = $(if $(CORE),--core)
CMAKE_ARGS = -DPACELINE_WERROR=$(PACELINE_WERROR) \
  $(if $(CORE),$(patsubst %,-DPACELINE_PLUGIN_%=OFF,TORCH ONNXRUNTIME OPENVINO TENSORRT),-DPACELINE_PLUGIN_TORCH=ON \
  -DPACELINE_TORCH_ROOT=$$(cat .deps/torch_root) -DPACELINE_ONNXRUNTIME_ROOT=$$(cat .deps/onnxruntime_root) \
  -DPACELINE_OPENVINO_ROOT=$$(cat .deps/openvino_root))

.PHONY: help setup configure tool build demo test test-slow install bundle wheel deb release validate check docs site format clean
.DEFAULT_GOAL := help

help:  ## this list
	@sed -n 's/^\([a-z-]*\):.*## /\1\t/p' Makefile | expand -t 14

demo: tool  ## install what is missing, build, run the quick-start plan, print where its report is
	@$(BUILD)/bin/paceline run $(PLAN) --allow-noisy

test: build  ## the same set-up, then build and run the whole test suite
	@ctest --preset release -j 10 $(TEST_ARGS)

test-slow: build  ## only the tests that take minutes
	@ctest --preset release -j 1 -L slow

build: configure  ## build everything, tests too
	@scripts/build.sh $(BUILD) $(JOBS) all

tool: configure  ## build the tool and its plug-ins
	@scripts/build.sh $(BUILD) $(JOBS) tool

install: tool  ## install into PREFIX (default /usr/local)
	@cmake --install $(BUILD) --prefix $(PREFIX) > /dev/null && echo "installed in $(PREFIX)"

bundle:  ## build/bundles/torch-VERSION.tar.xz: for machines without a compiler; TORCH=VERSION of their PyTorch (docs/gpu.md)
	@scripts/bundle.sh --torch $(TORCH) build/bundles/torch-$(TORCH).tar.xz

wheel:  ## build/dist/paceline-VERSION-….whl: `pip install` it where Python is, without a compiler (docs/getting-started.md)
	@PACELINE_WERROR=$(PACELINE_WERROR) scripts/bundle.sh --torch $(RELEASES) build/dist/paceline-$(VERSION)-py3-none-manylinux_2_35_x86_64.whl

deb:  ## build/dist/paceline_VERSION_amd64.deb: the same tree for Debian 12, Ubuntu 22.04 and newer
	@PACELINE_WERROR=$(PACELINE_WERROR) scripts/bundle.sh --torch $(RELEASES) build/dist/paceline_$(VERSION)_amd64.deb

release:  ## what is published of VERSION: wheel, archive, .deb, SBOM, changes, checksums, in build/dist/VERSION
	@PACELINE_WERROR=$(PACELINE_WERROR) scripts/release.sh

validate: tool  ## is this machine fit for measuring?
	@$(BUILD)/bin/paceline validate

check: build  ## formatting, layers, headers, generated documents
	@ctest --preset release -L check

docs: tool  ## rewrite docs/reference from the tables of the code
	@tools/checks/reference_docs.sh $(BUILD)/bin/paceline --write

site:  ## build/site: these documents as pages with search, every link checked
	@scripts/site.sh

setup:  ## install the packages and libraries that are missing
	@scripts/setup.sh $(SETUP_ARGS)

configure: setup
	@scripts/configure.sh $(BUILD) --preset release $(CMAKE_ARGS)

format:  ## rewrite C++ files in the project's format
	@tools/checks/format.sh --fix

clean:  ## remove build folders; .deps stays
	rm -rf build
