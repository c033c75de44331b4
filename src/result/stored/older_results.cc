// SPDX-License-Identifier: MIT
#include "result/stored/older_results.h"

#include "base/text.h"

namespace paceline::result {
namespace {

constexpr std::string_view kIn = " in ", kOfSamples = " % of the samples", kExcluded = ": excluded";

// "fc (Gemm): excluded"
void add_excluded(Quantisation& q) {
  for (const auto& text : q.float_layers)
    if (text.ends_with(kExcluded)) q.excluded.push_back(text.substr(0, text.rfind(" (")));
}

}  // namespace

bool is_older(std::string_view schema_version, int minor) {
  const auto parts = split(schema_version, '.');
  return parts.size() > 1 && parse_int(parts[1]).value_or(minor) < minor;
}

void add_older_facts(CaseResult& result) {
  if (!is_older(result.schema_version, kFactsSince)) return;
  add_excluded(result.model_file.quantisation);
}

std::vector<DeviceSlowdown> older_slowdowns(const std::string& text) {
  std::vector<DeviceSlowdown> slowdowns;
  for (const auto& part : split(text, ',')) {
    const std::string words(trim(part));
    const auto in = words.rfind(kIn);
    if (in == std::string::npos || !words.ends_with(kOfSamples)) continue;
    const auto number = words.substr(in + kIn.size(), words.size() - kOfSamples.size() - in - kIn.size());
    if (const auto percent = parse_double(number)) slowdowns.push_back({words.substr(0, in), *percent / 100});
  }
  return slowdowns;
}

}  // namespace paceline::result
