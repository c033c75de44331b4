// SPDX-License-Identifier: MIT
#include "analysis/cpu_features.h"

#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include "base/text.h"

namespace paceline::analysis {
namespace {

using Json = nlohmann::json;

struct PrecisionFeature {
  std::string_view precision, feature, missing;
};
constexpr std::array<PrecisionFeature, 6> kFeatures{{
    {"bf16", "avx512_bf16", "this CPU has no bf16 instructions (AVX512_BF16 or AMX)"},
    {"bf16", "amx_bf16", "this CPU has no AMX"},
    {"fp16", "avx512_fp16", "this CPU has no fp16 arithmetic"},
    {"fp16", "amx_fp16", "this CPU has no AMX for fp16"},
    {"int8", "avx512_vnni", "this CPU has no VNNI"},
    {"int8", "amx_int8", "this CPU has no AMX"},
}};

bool lists_word(const Json& list, std::string_view word) {
  if (list.is_array())
    return std::any_of(list.begin(), list.end(), [&](const Json& item) { return item == word; });
  const std::vector<std::string> words = split(list.get<std::string>(), ' ');
  return std::find(words.begin(), words.end(), word) != words.end();
}

}  // namespace

std::optional<bool> cpu_has(const Json& environment, std::string_view feature) {
  const auto cpu = environment.find("cpu");
  if (cpu == environment.end() || !cpu->is_object()) return std::nullopt;
  std::optional<bool> known;
  for (const char* key : {"flags", "isa"}) {
    const auto list = cpu->find(key);
    if (list == cpu->end() || !(list->is_array() || list->is_string())) continue;
    known = known.value_or(false) || lists_word(*list, feature);
  }
  return known;
}

std::string missing_precision_support(const Json& environment, std::string_view precision) {
  if (precision.starts_with("amp_")) precision.remove_prefix(4);
  for (const PrecisionFeature& row : kFeatures)
    if (row.precision == precision && cpu_has(environment, row.feature) == false)
      return std::string(row.missing);
  return {};
}

}  // namespace paceline::analysis
