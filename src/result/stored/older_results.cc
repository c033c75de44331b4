// SPDX-License-Identifier: MIT
#include "result/stored/older_results.h"

#include <array>

#include "base/text.h"

namespace paceline::result {
namespace {

constexpr std::string_view kIn = " in ", kOfSamples = " % of the samples", kExcluded = ": excluded";

constexpr std::string_view kNoReference = "its fp32 reference could not be made",
                           kNothingCompared = "none: ", kNoIndependentCheck = "no independent check",
                           kRandom = "random", kEngineIsWrong = "the engine is wrong, not the file",
                           kOfDevice = "times of the device's work",
                           kNeedsInputs = "the inputs are generated: whether its answers hold needs yours";

bool contains(std::string_view text, std::string_view words) {
  return text.find(words) != std::string_view::npos;
}

// Models of those versions whose FLOPs are in convolutions.
struct ConvolutionShare {
  std::string_view model;
  double share;
};
constexpr std::array<ConvolutionShare, 2> kConvolutionShares{{{"resnet50", 0.9995}, {"tiny_cnn", 0.9875}}};

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

void add_older_facts(Correctness& c) {
  if (!c.checked && c.reference.starts_with(kNothingCompared))
    c.unchecked_because = c.reference.substr(kNothingCompared.size());
  if (c.independence.empty() && c.reference.ends_with(kNoIndependentCheck)) c.independence = c.reference;
  c.generated_inputs = c.inputs.starts_with(kRandom);
  c.engine_strays = contains(c.detail, kEngineIsWrong);
  c.needs_inputs = contains(c.verdict_because, kNeedsInputs);
}

void add_older_facts(CaseResult& result) {
  if (!is_older(result.schema_version, kFactsSince)) return;
  add_excluded(result.model_file.quantisation);
  add_older_facts(result.correctness);
  for (const auto& [model, share] : kConvolutionShares)
    if (result.benchmark.model == model) result.flops.convolution_share = share;
  if (auto& profile = result.operator_profile) profile->on_device = contains(profile->source, kOfDevice);
  result.lacks_reference = result.reason.starts_with(kNoReference);
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
