// SPDX-License-Identifier: MIT
#include "torch/cuda/cuda_versions.h"

#include <ATen/detail/CUDAHooksInterface.h>
#include <cublasLt.h>
#include <cuda_runtime_api.h>
#include <dlfcn.h>

#include "torch/cuda/packed_version.h"
#include "torch/versions.h"

namespace paceline::cuda_plugin {
namespace {

using Rows = std::vector<std::pair<std::string, std::string>>;

void add(Rows& rows, const char* name, const std::string& version) {
  if (!version.empty()) rows.emplace_back(name, version);
}

std::string runtime_version() {
  int version = 0;
  return ::cudaRuntimeGetVersion(&version) == cudaSuccess ? runtime_version_text(version) : "";
}

std::string cudnn_version() {
  const auto& hooks = at::detail::getCUDAHooks();
  return hooks.hasCuDNN() ? cudnn_version_text(hooks.versionRuntimeCuDNN()) : "";
}

// LibTorch itself only knows the version that it was compiled for. NCCL's header is not available to this
// file, so the library's function is looked up by name.
std::string nccl_version() {
  using Ask = int (*)(int*);
  const auto ask = reinterpret_cast<Ask>(::dlsym(RTLD_DEFAULT, "ncclGetVersion"));
  int version = 0;
  return ask && ask(&version) == 0 ? library_version_text(version) : "";
}

}  // namespace

Rows library_versions() {
  auto rows = torch_plugin::library_versions();
  add(rows, "CUDA runtime", runtime_version());
  add(rows, "cuDNN", cudnn_version());
  add(rows, "cuBLASLt", library_version_text(static_cast<long long>(::cublasLtGetVersion())));
  add(rows, "NCCL", nccl_version());
  return rows;
}

}  // namespace paceline::cuda_plugin
