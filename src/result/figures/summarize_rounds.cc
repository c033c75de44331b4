// SPDX-License-Identifier: MIT
#include "result/figures/summarize_rounds.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>

#include "base/error.h"
#include "stats/quantile.h"

namespace paceline::result {
namespace {

constexpr std::size_t kFewestRanks = 3;
// In the order of stats::SuspectKind.
constexpr std::array kSuspectKinds{"rank", "host", "link", "hosts"};

std::vector<double> as_numbers(const std::vector<std::int64_t>& values) {
  return {values.begin(), values.end()};
}

// The attempts of all repetitions, one after the other.
std::vector<std::vector<RoundTimes>> attempts_of(const RoundsOfRepetitions& rounds) {
  std::vector<std::vector<RoundTimes>> attempts;
  for (const auto& [_, times] : rounds) {
    std::int64_t current = -1;
    for (const auto& one : times) {
      if (std::exchange(current, one.attempt) != one.attempt) attempts.emplace_back();
      attempts.back().push_back(one);
    }
  }
  for (const auto& attempt : attempts)
    if (!std::equal(attempt.begin(), attempt.end(), attempts.front().begin(), attempts.front().end(),
                    [](const auto& a, const auto& b) { return a.members == b.members; }))
      throw Error(ErrorCode::kData, "attempts have measured different subsets of ranks");
  return attempts;
}

class RoundSummary {
 public:
  RoundSummary(const RoundsOfRepetitions& rounds, const std::vector<CollectiveRank>& ranks,
               const RoundsAsked& asked)
      : attempts_(attempts_of(rounds)), ranks_(ranks), hosts_(hosts_of(ranks)), asked_(asked) {}

  RoundFigures figures() {
    RoundFigures f;
    f.of = asked_.of, f.bytes = asked_.bytes, f.slow_factor = asked_.slow_factor;
    f.rounds = attempts_.front().back().round + 1;
    f.attempts = std::ssize(attempts_);
    f.wrong = asked_.checked ? Count(wrong()) : Count::missing("not checked");
    fill_subsets(f);
    fill_verdict(f);
    return f;
  }

 private:
  [[nodiscard]] std::int64_t wrong() const {
    std::int64_t sum = 0;
    for (const auto& attempt : attempts_)
      for (const auto& one : attempt) sum += one.wrong;
    return sum;
  }

  [[nodiscard]] int host(std::int64_t rank) const { return hosts_.at(static_cast<std::size_t>(rank)); }
  [[nodiscard]] bool across(const SubsetFigures& subset) const {
    return std::any_of(subset.members.begin(), subset.members.end(),
                       [&](auto rank) { return host(rank) != host(subset.members.front()); });
  }

  void fill_subsets(RoundFigures& f) const {
    std::array<std::vector<double>, 2> of_class;
    for (std::size_t i = 0; i < attempts_.front().size(); ++i) {
      std::vector<double> all;
      for (const auto& attempt : attempts_) all.insert(all.end(), attempt[i].ns.begin(), attempt[i].ns.end());
      const double ns = stats::median(all);
      f.subsets.push_back({attempts_.front()[i].members, ns, static_cast<double>(f.bytes) / ns, 1});
      of_class[across(f.subsets.back()) ? 1 : 0].push_back(ns);
    }
    for (auto& subset : f.subsets)
      subset.times = *subset.ns / stats::median(of_class[across(subset) ? 1 : 0]);
  }

  void fill_verdict(RoundFigures& f) const {
    if (ranks_.size() < kFewestRanks) {
      f.no_verdict = fmt::format("{} ranks have nobody to be compared with", ranks_.size());
      return;
    }
    std::vector<stats::Attempt> attempts;
    for (const auto& times : attempts_) attempts.push_back(attempt_of(times));
    const auto slow = stats::confirmed(attempts, hosts_, asked_.slow_factor);
    for (const auto& one : slow) f.slow.push_back(part_of(one));
    for (const auto& one : stats::suspects(attempts.front(), hosts_, asked_.slow_factor))
      if (std::none_of(slow.begin(), slow.end(),
                       [&](const auto& s) { return s.what == one.what && s.ranks == one.ranks; }))
        f.cleared.push_back(part_of(one));
  }

  [[nodiscard]] SlowPart part_of(const stats::Suspicion& suspicion) const {
    SlowPart part{kSuspectKinds.at(static_cast<std::size_t>(suspicion.what)),
                  {},
                  {},
                  suspicion.factor,
                  suspicion.across_only};
    for (const int rank : suspicion.ranks) {
      const auto& name = ranks_.at(static_cast<std::size_t>(rank)).host;
      part.ranks.push_back(rank);
      if (std::find(part.hosts.begin(), part.hosts.end(), name) == part.hosts.end())
        part.hosts.push_back(name);
    }
    return part;
  }

  std::vector<std::vector<RoundTimes>> attempts_;
  const std::vector<CollectiveRank>& ranks_;
  std::vector<int> hosts_;
  const RoundsAsked& asked_;
};

}  // namespace

RoundFigures summarize_rounds(const RoundsOfRepetitions& rounds, const std::vector<CollectiveRank>& ranks,
                              const RoundsAsked& asked) {
  return RoundSummary(rounds, ranks, asked).figures();
}

std::vector<int> hosts_of(const std::vector<CollectiveRank>& ranks) {
  std::vector<std::string> names;
  std::vector<int> hosts;
  for (const auto& rank : ranks) {
    const auto found = std::find(names.begin(), names.end(), rank.host);
    hosts.push_back(static_cast<int>(found - names.begin()));
    if (found == names.end()) names.push_back(rank.host);
  }
  return hosts;
}

stats::Attempt attempt_of(const std::vector<RoundTimes>& times) {
  stats::Attempt attempt;
  for (const auto& one : times)
    attempt.push_back({{one.members.begin(), one.members.end()}, stats::median(as_numbers(one.ns))});
  return attempt;
}

std::string rounds_csv(const RoundsOfRepetitions& rounds) {
  std::string text = "repetition,attempt,round,ranks,index,duration_ns\n";
  for (const auto& [repetition, times] : rounds)
    for (const auto& one : times)
      for (std::size_t i = 0; i < one.ns.size(); ++i)
        text += fmt::format("{},{},{},{},{},{}\n", repetition, one.attempt, one.round,
                            fmt::join(one.members, " "), i, one.ns[i]);
  return text;
}

}  // namespace paceline::result
