// SPDX-License-Identifier: MIT
#include "analysis/self_test.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "analysis/bottlenecks.h"
#include "base/fault.h"

namespace paceline::analysis {
namespace {

using result::CaseResult;

constexpr const char* kNothing = "nothing";

// What each fault is, and the bottleneck that it should make the most expensive one.
struct Cause {
  Fault::Kind kind;
  std::string_view words, finding;
};
constexpr std::array<Cause, 4> kCauses{{{Fault::Kind::kSlow, "a slow rank", "straggler"},
                                        {Fault::Kind::kThrottle, "a noisy neighbour of a rank", "straggler"},
                                        {Fault::Kind::kSlowLoad, "a slow loader", "data_bound"},
                                        {Fault::Kind::kSlowLink, "a slow link", "exposed_communication"}}};
constexpr std::array<std::pair<std::string_view, std::string_view>, 3> kNames{
    {{"straggler", "a late rank"},
     {"data_bound", "a slow loader"},
     {"exposed_communication", "a slow link"}}};

// The rank that the others wait for; empty: nobody is accused.
std::string late_words(const CaseResult& one) {
  const auto& late = one.training.front().late;
  return late.empty() ? "" : fmt::format(" (rank {})", late.front().rank);
}

SelfTestRow judged(const CaseResult& one, const std::vector<result::Finding>& findings) {
  SelfTestRow row{.case_id = one.case_id, .injected = kNothing, .named = kNothing};
  const auto inject = one.benchmark.params.find("inject");
  const auto fault = inject == one.benchmark.params.end() ? Fault() : parse_fault(inject->second);
  const auto* const cause = std::ranges::find(kCauses, fault.kind, &Cause::kind);
  if (cause != kCauses.end()) row.injected = fmt::format("{} ({})", cause->words, inject->second);
  if (one.outcome != result::Outcome::kOk || one.training.empty()) {
    row.named = fmt::format("no answer: {}", one.reason);
    return row;
  }
  const auto found = bottlenecks_of(one, findings);
  const std::string_view first = found.empty() ? "" : std::string_view(found.front().finding.id);
  const auto* const name = std::ranges::find(kNames, first, &decltype(kNames)::value_type::first);
  const auto& late = one.training.front().late;
  if (name != kNames.end() && (first != "straggler" || !late.empty()))
    row.named = std::string(name->second) + (first == "straggler" ? late_words(one) : "");
  if (cause == kCauses.end()) {
    const bool accused = !late.empty() && std::ranges::any_of(found, [](const auto& b) {
      return b.finding.id == "straggler";
    });
    row.named = accused ? "a late rank" + late_words(one) : "nobody";
    row.right = !accused;
  } else {
    row.right = first == cause->finding &&
                (cause->finding != "straggler" || (!late.empty() && late.front().rank == fault.rank));
  }
  return row;
}

}  // namespace

std::vector<SelfTestRow> judge_self_test(const result::RunResult& run,
                                         const std::vector<result::Finding>& findings) {
  std::vector<SelfTestRow> rows;
  for (const auto& one : run.cases) rows.push_back(judged(one, findings));
  return rows;
}

}  // namespace paceline::analysis
