// SPDX-License-Identifier: MIT
#include "torch/versions.h"

#include <ATen/Version.h>
#include <torch/version.h>

#include <sstream>

#include "base/text.h"

namespace paceline::torch_plugin {
namespace {

// The first line, without the hash, of texts such as "Intel(R) MKL-DNN v3.9.1 (Git Hash …)".
std::string first_line(const std::string& text) {
  const auto end = std::min(text.find('\n'), text.find(" (Git Hash"));
  return std::string(trim(text.substr(0, end)));
}

// "mkl" for "BLAS_INFO=mkl" in the build settings.
std::string blas_name() {
  const auto config = at::show_config();
  const auto start = config.find("BLAS_INFO=");
  return start == std::string::npos ? "unknown"
                                    : config.substr(start + 10, config.find(',', start) - start - 10);
}

std::string blas_version() {
  const auto name = blas_name();
  return name == "mkl" ? first_line(at::get_mkl_version()) : name;
}

}  // namespace

std::vector<std::pair<std::string, std::string>> library_versions() {
  return {{"LibTorch", TORCH_VERSION},
          {"BLAS", blas_version()},
          {"oneDNN", first_line(at::get_mkldnn_version())},
          {"OpenMP", first_line(at::get_openmp_version())},
          {"cpu_capability", at::get_cpu_capability()}};
}

}  // namespace paceline::torch_plugin
