// SPDX-License-Identifier: MIT
#include "torch/isa_limit.h"

#include <algorithm>
#include <array>
#include <cstdlib>

#include "base/lower_case.h"

namespace paceline::torch_plugin {
namespace {

// 16-bit arithmetic that oneDNN uses from a level on, in the order of the levels.
constexpr std::array<std::string_view, 4> kArithmetic{"avx512_bf16", "avx512_fp16", "amx_bf16", "amx_fp16"};

struct Level {
  std::string_view value;  // as oneDNN reads it, ignoring case
  std::size_t left;        // how many of the above remain
};
constexpr std::array<Level, 15> kLevels{{{"sse41", 0},
                                         {"avx", 0},
                                         {"avx2", 0},
                                         {"avx2_vnni", 0},
                                         {"avx2_vnni_2", 0},
                                         {"avx512_core", 0},
                                         {"avx512_core_vnni", 0},
                                         {"avx512_core_bf16", 1},
                                         {"avx512_core_fp16", 2},
                                         {"avx10_1_512", 2},
                                         {"avx512_core_amx", 3},
                                         {"avx10_1_512_amx", 3},
                                         {"avx512_core_amx_fp16", 4},
                                         {"avx10_1_512_amx_fp16", 4},
                                         {"all", 4}}};

std::string lower(std::string_view text) {
  std::string out(text);
  for (char& c : out) c = lower_case(c);
  return out;
}

}  // namespace

IsaLimit isa_limit_of_environment() {
  for (const char* variable : {"ONEDNN_MAX_CPU_ISA", "DNNL_MAX_CPU_ISA"})
    if (const char* value = std::getenv(variable)) return {variable, value};
  return {};
}

std::vector<std::string> features_left(const std::vector<std::string>& features, std::string_view value) {
  const auto wanted = lower(value);
  const auto* const level =
      std::find_if(kLevels.begin(), kLevels.end(), [&](const Level& one) { return one.value == wanted; });
  auto left = features;
  if (level == kLevels.end()) return left;
  std::erase_if(left, [&](const std::string& feature) {
    const auto* const found = std::find(kArithmetic.begin(), kArithmetic.end(), feature);
    return static_cast<std::size_t>(found - kArithmetic.begin()) >= level->left && found != kArithmetic.end();
  });
  return left;
}

}  // namespace paceline::torch_plugin
