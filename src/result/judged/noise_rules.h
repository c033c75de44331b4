// SPDX-License-Identifier: MIT
#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "result/stored/case_result.h"

// Turns noise figures into words and a grade (methodology: noise diagnostics). Works on stored results alone.
namespace paceline::result {

enum class NoiseProfile { kShared, kQuiet };  // other users are expected; the machine is ours alone

char grade_letter(Grade grade);  // '-' for kNone

// The profile that the case was measured with; an unknown one in a stored case counts as shared.
NoiseProfile profile_of(const CaseResult& result);
// A smaller difference of two cases counts as equal (methodology: A/B comparison).
double smallest_difference(NoiseProfile profile);

struct NoiseFacts {
  Noise noise;
  Overhead overhead;
  std::string steady_state;  // reached | not_reached | fixed | ""
  bool residual_warmup = false;
  std::int64_t n = 0;  // samples behind noise.tau_x
  bool queue = false;  // latencies of a queue depend on each other and form groups
  Number power_capped = Number::missing("not_applicable");  // share of the samples of a GPU, the worst one's
  Number slowed_down = Number::missing("not_applicable");   // likewise: heat, or a fault of the power supply
  Number device_clock_cv = Number::missing("not_applicable");   // of a GPU that nothing slowed down
  Number device_processes = Number::missing("not_applicable");  // of others on a GPU
  bool device_decides = false;
  bool interval_over_processes = false;  // if so, dependence inside one process does not bias the interval
};

// A limit is crossed when the value is above it; an absent limit is never crossed.
struct NoiseLimits {
  std::optional<double> warn, invalid;
};

enum class NoiseFormat { kPercent, kShare, kPlain, kCount, kFlag };

// Subject of a rule. Disturbances of the host alone do not count if the device decides.
enum class NoiseOf { kTimes, kHost, kDevice };

struct NoiseRule {
  std::string_view id;
  NoiseLimits shared, quiet;
  NoiseFormat format;
  std::string_view words;            // {0}: the value as people read it
  std::string_view advice;           // what the user can do about it
  Number (*get)(const NoiseFacts&);  // missing: the rule cannot be judged and stays silent
  NoiseOf of = NoiseOf::kTimes;
};

std::span<const NoiseRule> noise_rules();
const NoiseLimits& limits_of(const NoiseRule& rule, NoiseProfile profile);

// A crossed limit in words.
struct NoiseFlag {
  std::string id;
  bool invalid = false;
  std::string text;  // "neighbours used 6.1 % of the machine (limit 5.0 %)"
  std::string advice;
  bool counts = true;  // for the grade
};
// Flags that make a case invalid come first, the others in table order.
std::vector<NoiseFlag> noise_flags(const NoiseFacts& facts, NoiseProfile profile);

// A without flags that count, B with flags, C with a flag that makes the case invalid.
Grade grade_of(const std::vector<NoiseFlag>& flags);

NoiseFacts facts_of(const Repetition& repetition);
NoiseFacts facts_of(const CaseResult& result);

// Sets noise.warnings; for a case also grade and grade_reasons, which leave out what does not count.
void apply_noise_rules(Repetition& repetition, NoiseProfile profile);
void apply_noise_rules(CaseResult& result, NoiseProfile profile);

}  // namespace paceline::result
