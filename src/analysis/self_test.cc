// SPDX-License-Identifier: MIT
#include "analysis/self_test.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "analysis/bottlenecks.h"
#include "analysis/case_query.h"
#include "analysis/cause_words.h"
#include "base/fault.h"
#include "result/figures/training_limits.h"
#include "result/stored/benchmark_params.h"

namespace paceline::analysis {
namespace {

using result::CaseResult;

constexpr const char* kNothing = "nothing";

// Each fault, the bottleneck whose cost it should raise most, and the cause to be found for the late rank:
// none for a rank that sleeps.
struct Injected {
  Fault::Kind kind;
  std::string_view words, finding, cause{};
};
constexpr std::array<Injected, 4> kInjected{
    {{Fault::Kind::kSlow, "a slow rank", "straggler"},
     {Fault::Kind::kThrottle, "a noisy neighbour of a rank", "straggler",
      result::late_cause::kForeignProcess},
     {Fault::Kind::kSlowLoad, "a slow loader", "data_bound"},
     {Fault::Kind::kSlowLink, "a slow link", "exposed_communication"}}};
constexpr std::array<std::pair<std::string_view, std::string_view>, 3> kNames{
    {{"straggler", "a late rank"},
     {"data_bound", "a slow loader"},
     {"exposed_communication", "a slow link"}}};

using Late = std::vector<result::LateRank>;

// The cause that explains most; empty: unknown.
std::string_view cause_of(const Late& late) {
  return late.empty() || late.front().causes.empty() ? ""
                                                     : std::string_view(late.front().causes.front().name);
}

// The rank that the others wait for, and why; empty: no rank is late.
std::string late_words(const Late& late) {
  if (late.empty()) return {};
  const auto cause = cause_of(late);
  return fmt::format(" (rank {}: {})", late.front().rank,
                     cause.empty() ? "cause unknown" : words_of_cause(cause).words);
}

// Finds the training without a fault; null if none has figures.
const CaseResult* clean_one(const result::RunResult& run, const CaseResult& one) {
  const auto found = std::ranges::find_if(run.cases, [&](const CaseResult& other) {
    return !has_fault(other) && other.training() && other.benchmark.model == one.benchmark.model &&
           other.benchmark.world_size == one.benchmark.world_size;
  });
  return found == run.cases.end() ? nullptr : &*found;
}

// The finding whose cost grew most over that of the clean case: ranks that share a CPU with the threads of
// their backend wait for each exchange, whatever is injected. Empty: no cost is known to have grown.
std::string_view most_grown(const std::vector<Bottleneck>& found, const CaseResult& faulty,
                            const CaseResult* clean) {
  // All waiting counts: only the faulty case names a rank.
  const auto cost = [](const Bottleneck& b, const CaseResult& one) {
    return b.finding.id == "straggler" ? one.training()->costs.straggler_wait_ns.value
                                       : cost_of(b.finding.id, one).value;
  };
  const auto growth = [&](const Bottleneck& b) {
    const auto after = cost(b, faulty);
    if (!after || clean == nullptr) return after.value().value_or(0.0);
    const auto before = cost(b, *clean);
    return before ? *after - *before : 0.0;
  };
  const auto most = std::ranges::max_element(found, {}, growth);
  return most == found.end() || growth(*most) <= 0 ? "" : std::string_view(most->finding.id);
}

SelfTestRow judged(const CaseResult& one, const CaseResult* clean,
                   const std::vector<result::Finding>& findings) {
  SelfTestRow row{.case_id = one.case_id, .injected = kNothing, .named = kNothing};
  const auto fault = result::fault_of(one.benchmark).value_or(Fault());
  const auto* const injected = std::ranges::find(kInjected, fault.kind, &Injected::kind);
  if (injected != kInjected.end())
    row.injected = fmt::format("{} ({})", injected->words, one.benchmark.fault);
  if (one.outcome != result::Outcome::kOk || !one.training()) {
    row.named = fmt::format("no answer: {}", one.reason);
    return row;
  }
  const auto found = bottlenecks_of(one, findings);
  const std::string_view first = most_grown(found, one, clean);
  const auto* const name = std::ranges::find(kNames, first, &decltype(kNames)::value_type::first);
  const Late& late = one.training()->late;
  if (name != kNames.end() && (first != "straggler" || !late.empty()))
    row.named = std::string(name->second) + (first == "straggler" ? late_words(late) : "");
  if (injected == kInjected.end()) {
    const bool has_late = result::has_straggler(*one.training());
    row.named = has_late ? "a late rank" + late_words(late) : "nobody";
    row.right = !has_late;
  } else {
    row.right = first == injected->finding &&
                (first != "straggler" ||
                 (!late.empty() && late.front().rank == fault.rank && cause_of(late) == injected->cause));
  }
  return row;
}

}  // namespace

std::vector<SelfTestRow> judge_self_test(const result::RunResult& run,
                                         const std::vector<result::Finding>& findings) {
  std::vector<SelfTestRow> rows;
  for (const auto& one : run.cases)
    rows.push_back(judged(one, has_fault(one) ? clean_one(run, one) : nullptr, findings));
  return rows;
}

answer::Answer self_test_answer(const std::vector<SelfTestRow>& rows) {
  answer::Answer answer{.title = "Self-test", .sentence = {}};
  for (const auto& row : rows)
    answer.checks.push_back({.name = row.injected,
                             .verdict = row.right ? answer::Verdict::kYes : answer::Verdict::kNo,
                             .text = "named: " + row.named,
                             .exit = row.right ? ExitCode::kOk : ExitCode::kGateFailed});
  answer.sentence =
      fmt::format("self-test: {} of {} right", std::ranges::count_if(rows, &SelfTestRow::right), rows.size());
  return answer;
}

}  // namespace paceline::analysis
