// SPDX-License-Identifier: MIT
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "analysis/case_query.h"
#include "analysis/findings.h"
#include "analysis/setting_words.h"
#include "base/units.h"

// Findings about the profile of a training step.
namespace paceline::analysis {
namespace {

using result::OperatorProfile;

constexpr double kMuchOfAStep = 0.20;
constexpr double kMuchMemory = 0.10;
constexpr double kMuchOutside = 0.10;
// Operators of LibTorch that compute nothing.
constexpr std::array<std::string_view, 12> kMovers{
    "aten::copy_", "aten::clone",    "aten::contiguous", "aten::cat",        "aten::fill_", "aten::zero_",
    "aten::to",    "aten::_to_copy", "aten::index",      "aten::empty_like", "Memcpy HtoD", "Memcpy DtoH"};

// PyTorch's own loops for convolutions on a CPU, and the way through oneDNN.
constexpr std::string_view kSlowForward = "aten::_slow_conv2d_forward";
constexpr std::string_view kSlowBackward = "aten::_slow_conv2d_backward";
constexpr std::string_view kOneDnnForward = "aten::mkldnn_convolution";

const OperatorProfile* operator_profile_of(const CaseResult& one) {
  const auto& profile = one.operator_profile;
  return is_ok(one) && profile && profile->steps && !profile->top.empty() ? &*profile : nullptr;
}

double largest_share(const CaseResult& one) {
  const auto* profile = operator_profile_of(one);
  return profile ? profile->top.front().share.value().value_or(0) : 0;
}

// A profiler slows steps down, so the share refers to profiled steps.
result::Finding top_operator_of(const CaseResult& one) {
  const auto& profile = *operator_profile_of(one);
  const auto& row = profile.top.front();
  const auto steps = static_cast<double>(*profile.steps);
  auto evidence = fmt::format("{} in {} calls per step", format_duration_ns(*row.self_ns / steps),
                              format_count(static_cast<double>(row.calls) / steps));
  if (profile.of_timed)
    evidence +=
        fmt::format("; a profiled step took {} times a timed one", format_fixed(*profile.of_timed, 2));
  return finding_about({&one},
                       fmt::format("{}: {} takes {} of a profiled step by itself.", one.label, row.name,
                                   format_percent(*row.share)),
                       std::move(evidence));
}

const result::OperatorRow* row_of(const OperatorProfile& profile, std::string_view name) {
  const auto row = std::ranges::find(profile.top, name, &result::OperatorRow::name);
  return row == profile.top.end() ? nullptr : &*row;
}

double calls_per_step(const OperatorProfile& profile, std::string_view name) {
  const auto* row = row_of(profile, name);
  return row ? static_cast<double>(row->calls) / static_cast<double>(*profile.steps) : 0;
}

}  // namespace

Number outside_onednn_share(const CaseResult& one) {
  const auto* profile = operator_profile_of(one);
  if (profile == nullptr) return Number::missing("no profile");
  double share = 0;
  for (const auto name : {kSlowForward, kSlowBackward})
    if (const auto* row = row_of(*profile, name)) share += row->share.value().value_or(0);
  return share;
}

Findings find_outside_onednn(const result::RunResult& run) {
  Findings found;
  for (const CaseResult& one : run.cases) {
    const auto share = outside_onednn_share(one);
    if (!share || *share < kMuchOutside) continue;
    const auto& profile = *operator_profile_of(one);
    const double outside = calls_per_step(profile, kSlowForward);
    const double all = outside + calls_per_step(profile, kOneDnnForward);
    // Only the operators with most time are known.
    const bool counted = outside > 0 && all > outside;
    const auto which =
        counted ? fmt::format("{} of {} convolutions run", format_count(outside), format_count(all))
                : "convolutions run";
    found.push_back(finding_about(
        {&one},
        fmt::format("{}: {} outside oneDNN, in PyTorch's own loops: {} of a profiled step.", one.label, which,
                    format_percent(*share)),
        fmt::format("share of {} and {}; {} per rank", kSlowForward, kSlowBackward,
                    plural(one.benchmark.threads, "thread")),
        one.benchmark.threads == 1
            ? "With one thread per rank PyTorch does not ask oneDNN for them: use two threads per "
              "rank (threads), and fewer ranks where cores are short."
            : "Try layout: channels_last, or precision: bf16, for which PyTorch asks oneDNN."));
  }
  return found;
}

Number memory_share(const CaseResult& one) {
  const auto* profile = operator_profile_of(one);
  if (profile == nullptr) return Number::missing("no profile");
  double share = 0;
  for (const auto& row : profile->top)
    if (std::ranges::find(kMovers, row.name) != kMovers.end()) share += row.share.value().value_or(0);
  return share;
}

Findings find_memory_operators(const result::RunResult& run) {
  Findings found;
  for (const CaseResult& one : run.cases) {
    const auto share = memory_share(one);
    if (!share || *share < kMuchMemory) continue;
    found.push_back(finding_about(
        {&one},
        fmt::format("{}: {} of a profiled step moves or fills memory and computes nothing.", one.label,
                    format_percent(*share)),
        "sum over the operators with the most self time, as far as they only copy",
        advice_to(one,
                  "Try layout: channels_last for convolutions, or {bucket_view}, which saves the copies into "
                  "buckets.")));
  }
  return found;
}

Findings find_top_operators(const result::RunResult& run) {
  std::vector<const CaseResult*> cases;
  for (const CaseResult& one : run.cases)
    if (largest_share(one) >= kMuchOfAStep) cases.push_back(&one);
  std::stable_sort(cases.begin(), cases.end(), [](const CaseResult* a, const CaseResult* b) {
    return largest_share(*a) > largest_share(*b);
  });
  Findings found;
  for (const CaseResult* one : cases) found.push_back(top_operator_of(*one));
  return found;
}

}  // namespace paceline::analysis
