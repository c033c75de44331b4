// SPDX-License-Identifier: MIT
#include "run/more_pairs.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "result/figures/pair_ratio.h"
#include "result/judged/noise_rules.h"

namespace paceline::run {
namespace {

std::int64_t asked_repetitions(const CaseRun& c) {
  return c.definition.settings.has("repetitions") ? c.definition.settings.integer("repetitions") : 1;
}

bool may_have_more(const CaseRun& c) {
  const auto& r = c.result;
  return c.selected && c.ended && r.complete && r.outcome == result::Outcome::kOk &&
         !traits_of(c.definition.kind).by_ranks && traits_of(r.benchmark.scenario).one_at_a_time &&
         std::ssize(r.repetitions) == asked_repetitions(c);
}

// Partner of a case in comparisons: its baseline, else the first case.
const CaseRun* partner_of(const CaseRun& c, const CaseRuns& cases) {
  const auto& id = c.definition.baseline_id;
  const auto found = std::ranges::find_if(
      cases, [&](const CaseRun& other) { return id ? other.definition.id == *id : other.index == 0; });
  return found == cases.end() || found->index == c.index ? nullptr : &*found;
}

// Empty: the pairs have a size, or are too few.
std::string why_no_size(const CaseRun& c, const CaseRun& partner,
                        const std::vector<std::string>& resumed_utc) {
  return result::pair_ratio(partner.result, c.result, result::Figure::kLatency, resumed_utc,
                            c.definition.settings.number("confidence"),
                            result::smallest_difference(result::profile_of(c.result)))
      .no_size;
}

}  // namespace

std::vector<TimedSlot> add_pairs(CaseRuns& cases, std::uint64_t seed,
                                 const std::vector<std::string>& resumed_utc, RunObserver& observer) {
  std::set<std::size_t> open;
  std::string why;
  for (const auto& c : cases) {
    const auto* partner = partner_of(c, cases);
    if (!partner || !may_have_more(c) || !may_have_more(*partner)) continue;
    const auto reason = why_no_size(c, *partner, resumed_utc);
    if (reason.empty() || asked_repetitions(c) != asked_repetitions(*partner)) continue;
    open.insert({c.index, partner->index});
    why = reason;
  }
  std::vector<std::int64_t> repetitions(cases.size(), 0);
  for (const auto index : open) {
    auto& c = cases[index];
    c.result.repetitions_planned = repetitions[index] = 2 * asked_repetitions(c);
    c.result.complete = c.ended = false;
  }
  if (!open.empty())
    observer.notice(fmt::format("{}: twice the process pairs for {} cases", why, open.size()));
  auto slots = interleaved_order(repetitions, seed);
  std::erase_if(slots, [&](const TimedSlot& slot) { return !cases[slot.case_index].needs(slot.repetition); });
  return slots;
}

std::int64_t planned_before(const CaseRun& c, std::int64_t before) {
  const auto asked = c.result.repetitions_planned;
  return before == 2 * asked ? before : asked;
}

}  // namespace paceline::run
