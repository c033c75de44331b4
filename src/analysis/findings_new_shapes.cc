// SPDX-License-Identifier: MIT
#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <vector>

#include "analysis/case_query.h"
#include "analysis/findings.h"
#include "base/text.h"
#include "base/units.h"
#include "result/figures/new_shapes.h"

// Findings about shapes that the loaded model had not seen before.
namespace paceline::analysis {
namespace {

using result::NewShape;

// The first inference beside the second: less is what caches and chance do.
constexpr double kLeastRatio = 2, kLeastNs = 100e3;

constexpr double kAlikeRatio = 1.2;
constexpr std::ptrdiff_t kFewestForClaim = 3;  // processes: one first inference may be chance

bool is_alike(const NewShape& one) {
  return one.first_ns && one.second_ns &&
         (*one.first_ns <= kAlikeRatio * *one.second_ns || *one.first_ns - *one.second_ns < kLeastNs);
}

bool is_slow_when_new(const NewShape& one) {
  return one.first_ns && one.second_ns && *one.first_ns >= kLeastRatio * *one.second_ns &&
         *one.first_ns - *one.second_ns >= kLeastNs;
}

bool supports_claims(const CaseResult& one) {
  return std::ssize(one.repetitions) >= kFewestForClaim;
}

std::string times_of(const NewShape& one) {
  if (!one.first_ns || !one.second_ns)
    return fmt::format("{} could not be run: {}", one.shape, one.first_ns.reason());
  return fmt::format("{} took {}, then {}", one.shape, format_duration_ns(*one.first_ns),
                     format_duration_ns(*one.second_ns));
}

std::string all_times(const std::vector<NewShape>& shapes) {
  std::vector<std::string> words;
  for (const auto& one : shapes) words.push_back(times_of(one));
  return join(words, "; ");
}

std::string evidence_of(const CaseResult& one) {
  return fmt::format("medians over {}", plural(std::ssize(one.repetitions), "repetition"));
}

}  // namespace

Findings find_slow_new_shapes(const RunResult& run) {
  Findings findings;
  for (const auto& one : run.cases) {
    auto shapes = result::new_shapes(one);
    std::erase_if(shapes, [](const NewShape& shape) { return !is_slow_when_new(shape); });
    if (shapes.empty() || !supports_claims(one)) continue;
    findings.push_back(finding_about(
        {&one},
        as_sentence(fmt::format("{}: the first inference of a new shape takes longer: {}", one.label,
                                all_times(shapes))),
        evidence_of(one), "Run each shape once before you serve, or pad requests to a shape that was run."));
  }
  return findings;
}

Findings find_new_shapes(const RunResult& run) {
  Findings findings;
  for (const auto& one : run.cases) {
    auto shapes = result::new_shapes(one);
    if (supports_claims(one)) std::erase_if(shapes, is_slow_when_new);
    if (shapes.empty()) continue;
    const bool alike = supports_claims(one) && std::ranges::all_of(shapes, is_alike);
    findings.push_back(
        finding_about({&one},
                      as_sentence(fmt::format("{}: {}{}", one.label,
                                              alike ? "a new shape takes hardly longer at first: " : "",
                                              all_times(shapes))),
                      evidence_of(one), ""));
  }
  return findings;
}

}  // namespace paceline::analysis
