// SPDX-License-Identifier: MIT
#pragma once
#include <fmt/format.h>

#include <string>

// Unpacks versions as NVIDIA's libraries tell them: packed into one number, each in its own way. Empty for 0.
namespace paceline::cuda_plugin {

// CUDA: 13000 is 13.0.
inline std::string runtime_version_text(long long packed) {
  return packed <= 0 ? "" : fmt::format("{}.{}", packed / 1000, packed % 1000 / 10);
}

// NCCL from 2.9 and cuBLAS from 12 on: 22809 is 2.28.9.
inline std::string library_version_text(long long packed) {
  if (packed <= 0) return "";
  return fmt::format("{}.{}.{}", packed / 10'000, packed % 10'000 / 100, packed % 100);
}

// cuDNN: 91900 is 9.19.0, and before version 9 8907 was 8.9.7.
inline std::string cudnn_version_text(long long packed) {
  if (packed >= 10'000) return library_version_text(packed);
  return packed <= 0 ? "" : fmt::format("{}.{}.{}", packed / 1000, packed % 1000 / 100, packed % 100);
}

}  // namespace paceline::cuda_plugin
