// SPDX-License-Identifier: MIT
#include "result/figures/pairing.h"

#include <algorithm>

namespace paceline::result {
namespace {

// Starts are UTC in one format, so they sort as text. They are whole seconds: within one run the order of
// what began in the same one is known, between two runs it is not, so that an equal start counts as within.
struct UtcSpan {
  std::string from, to;
  bool one_run = true;
  [[nodiscard]] bool contains(const std::string& time) const {
    return one_run ? from < time && time < to : from <= time && time <= to;
  }
};

bool another_began_within(const CaseResult& one, std::int64_t index, const UtcSpan& span) {
  return std::any_of(one.repetitions.begin(), one.repetitions.end(),
                     [&](const Repetition& r) { return r.index != index && span.contains(r.started_utc); });
}

bool resumed_within(const std::vector<std::string>& resumed_utc, const UtcSpan& span) {
  return std::any_of(resumed_utc.begin(), resumed_utc.end(),
                     [&](const std::string& time) { return span.from < time && time <= span.to; });
}

}  // namespace

Pairing pair_repetitions(const CaseResult& a, const CaseResult& b,
                         const std::vector<std::string>& resumed_utc) {
  Pairing pairing;
  for (const Repetition& mine : a.repetitions) {
    const auto theirs = std::find_if(b.repetitions.begin(), b.repetitions.end(),
                                     [&](const Repetition& r) { return r.index == mine.index; });
    if (theirs == b.repetitions.end()) continue;
    const auto [from, to] = std::minmax(mine.started_utc, theirs->started_utc);
    const UtcSpan span{from, to, a.run_id == b.run_id};
    const bool apart = from.empty() ? !span.one_run
                                    : another_began_within(a, mine.index, span) ||
                                          another_began_within(b, mine.index, span) ||
                                          resumed_within(resumed_utc, span);
    if (apart)
      ++pairing.apart;
    else
      pairing.neighbours.emplace_back(&mine, &*theirs);
  }
  return pairing;
}

bool in_turns(const CaseResult& a, const CaseResult& b, const std::vector<std::string>& resumed_utc) {
  const Pairing pairing = pair_repetitions(a, b, resumed_utc);
  return pairing.apart == 0 || pairing.apart < static_cast<std::int64_t>(pairing.neighbours.size());
}

}  // namespace paceline::result
