// SPDX-License-Identifier: MIT
#include "stats/rounds.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <numeric>
#include <optional>
#include <utility>

#include "base/random.h"
#include "stats/quantile.h"
#include "stats/spread.h"

namespace paceline::stats {
namespace {

constexpr std::size_t kFewest = 3;  // ranks, or pairs, of which one can stand out
constexpr double kSuspectSigmas = 2, kSlowSigmas = 4;
constexpr int kFewestPartitions = 4;

// When a time is too long.
struct Limits {
  double least_factor = 1;
  double sigmas = 0;  // of the logarithms of healthy times
  double noise = 0;   // the least such sigma
};

// Takes the lower one of two in the middle: half of the ranks may be slow.
double lower_median(std::vector<double> x) {
  std::sort(x.begin(), x.end());
  return x[(x.size() - 1) / 2];
}

// The subsets of one class: within a host, or across hosts.
class Class {
 public:
  Class(std::vector<const SubsetTime*> subsets, std::size_t ranks, const Limits& limits)
      : subsets_(std::move(subsets)), best_(ranks), slow_(ranks) {
    for (const auto* subset : subsets_)
      for (const int rank : subset->members) {
        auto& best = best_[static_cast<std::size_t>(rank)];
        best = std::min(best.value_or(subset->ns), subset->ns);
      }
    judge(limits);
  }

  [[nodiscard]] bool has(int rank) const { return best_[static_cast<std::size_t>(rank)].has_value(); }
  [[nodiscard]] bool slow(int rank) const { return slow_[static_cast<std::size_t>(rank)]; }
  // The rank must have a time.
  [[nodiscard]] double factor(int rank) const {
    return *best_[static_cast<std::size_t>(rank)] / typical_best_;
  }
  // Compares a pair with healthy ones; none if there are too few of them.
  [[nodiscard]] std::optional<double> factor(const SubsetTime& pair) const {
    if (healthy_ < kFewest) return std::nullopt;
    return pair.ns / typical_;
  }
  [[nodiscard]] bool slow_pair(const SubsetTime& pair) const {
    const auto times = factor(pair);
    return times && *times > threshold_;
  }
  [[nodiscard]] const std::vector<const SubsetTime*>& subsets() const { return subsets_; }

 private:
  void judge(const Limits& limits) {
    std::vector<double> best;
    for (const auto& one : best_)
      if (one) best.push_back(*one);
    if (best.size() < kFewest) return;
    typical_best_ = lower_median(best);
    const auto suspect = [&](int rank) { return factor(rank) > limits.least_factor; };
    std::vector<double> logs;
    for (const auto* subset : subsets_)
      if (std::none_of(subset->members.begin(), subset->members.end(), suspect))
        logs.push_back(std::log(subset->ns));
    healthy_ = logs.size();
    if (healthy_ == 0) return;
    typical_ = std::exp(median(logs));
    const double sigma = std::max(kMadToSigma * mad(logs), limits.noise);
    threshold_ = std::max(limits.least_factor, std::exp(limits.sigmas * sigma));
    for (std::size_t rank = 0; rank < best_.size(); ++rank)
      slow_[rank] = best_[rank] && factor(static_cast<int>(rank)) > threshold_;
  }

  std::vector<const SubsetTime*> subsets_;
  std::vector<std::optional<double>> best_;  // the fastest subset of each rank
  std::vector<bool> slow_;
  std::size_t healthy_ = 0;
  double typical_best_ = 0, typical_ = 0, threshold_ = HUGE_VAL;
};

class Judge {
 public:
  Judge(const Attempt& times, std::span<const int> hosts, const Limits& limits)
      : hosts_(hosts),
        within_(of_class(times, false), hosts.size(), limits),
        across_(of_class(times, true), hosts.size(), limits) {
    for (std::size_t rank = 0; rank < hosts.size(); ++rank)
      ranks_of_[hosts[rank]].push_back(static_cast<int>(rank));
  }

  std::vector<Suspicion> found() {
    find_hosts();
    find_ranks();
    find_host_links();
    find_links();
    return std::move(found_);
  }

 private:
  [[nodiscard]] int host(int rank) const { return hosts_[static_cast<std::size_t>(rank)]; }

  [[nodiscard]] std::vector<const SubsetTime*> of_class(const Attempt& times, bool across) const {
    std::vector<const SubsetTime*> found;
    for (const auto& one : times)
      if (std::any_of(one.members.begin(), one.members.end(),
                      [&](int rank) { return host(rank) != host(one.members.front()); }) == across)
        found.push_back(&one);
    return found;
  }

  void find_hosts() {
    if (ranks_of_.size() < kFewest) return;
    for (const auto& [_, ranks] : ranks_of_) {
      if (ranks.size() < 2 ||
          !std::all_of(ranks.begin(), ranks.end(), [&](int rank) { return across_.slow(rank); }))
        continue;
      double least = HUGE_VAL;
      for (const int rank : ranks) least = std::min(least, across_.factor(rank));
      add_suspicion({SuspectKind::kHost, ranks, least});
    }
  }

  void find_ranks() {
    for (int rank = 0; rank < static_cast<int>(hosts_.size()); ++rank) {
      if (suspected(rank)) continue;
      const bool within = within_.slow(rank), across = across_.slow(rank);
      if (!within && !across) continue;
      const double factor = within && across ? std::min(within_.factor(rank), across_.factor(rank))
                            : within         ? within_.factor(rank)
                                             : across_.factor(rank);
      add_suspicion({SuspectKind::kRank, {rank}, factor, !within && within_.has(rank)});
    }
  }

  // Where several pairs connect two hosts and all of them are slow, their link is.
  void find_host_links() {
    std::map<std::pair<int, int>, std::vector<const SubsetTime*>> of_hosts;
    for (const auto* pair : across_.subsets())
      if (unsuspected_pair(*pair))
        of_hosts[std::minmax({host(pair->members[0]), host(pair->members[1])})].push_back(pair);
    for (const auto& [hosts, pairs] : of_hosts) {
      if (pairs.size() < 2 || !std::all_of(pairs.begin(), pairs.end(),
                                           [&](const auto* pair) { return across_.slow_pair(*pair); }))
        continue;
      Suspicion link{SuspectKind::kHostLink, {}, HUGE_VAL};
      for (const auto* pair : pairs) {
        link.factor = std::min(link.factor, *across_.factor(*pair));
        link.ranks.insert(link.ranks.end(), pair->members.begin(), pair->members.end());
        of_host_links_.push_back(pair);
      }
      std::sort(link.ranks.begin(), link.ranks.end());
      link.ranks.erase(std::unique(link.ranks.begin(), link.ranks.end()), link.ranks.end());
      found_.push_back(std::move(link));
    }
  }

  void find_links() {
    for (const auto* one : {&within_, &across_})
      for (const auto* pair : one->subsets())
        if (unsuspected_pair(*pair) && one->slow_pair(*pair) &&
            !std::count(of_host_links_.begin(), of_host_links_.end(), pair))
          found_.push_back({SuspectKind::kLink, pair->members, *one->factor(*pair)});
  }

  [[nodiscard]] bool unsuspected_pair(const SubsetTime& subset) const {
    return subset.members.size() == 2 && !suspected(subset.members[0]) && !suspected(subset.members[1]);
  }
  [[nodiscard]] bool suspected(int rank) const {
    return std::count(suspects_.begin(), suspects_.end(), rank) > 0;
  }
  void add_suspicion(Suspicion suspicion) {
    suspects_.insert(suspects_.end(), suspicion.ranks.begin(), suspicion.ranks.end());
    found_.push_back(std::move(suspicion));
  }

  std::span<const int> hosts_;
  Class within_, across_;
  std::map<int, std::vector<int>> ranks_of_;
  std::vector<int> suspects_;
  std::vector<const SubsetTime*> of_host_links_;
  std::vector<Suspicion> found_;
};

// Standard deviation of the logarithm that the times of a subset have between attempts, over all subsets.
double noise_between(std::span<const Attempt> attempts) {
  double squares = 0, freedom = 0;
  for (std::size_t i = 0; i < attempts.front().size(); ++i) {
    std::vector<double> logs;
    for (const auto& attempt : attempts) logs.push_back(std::log(attempt[i].ns));
    const double middle = mean(logs);
    for (const double log : logs) squares += (log - middle) * (log - middle);
    freedom += static_cast<double>(logs.size() - 1);
  }
  return freedom > 0 ? std::sqrt(squares / freedom) : 0;
}

// Intersects `all` with `attempt`.
void keep_common(std::vector<Suspicion>& all, const std::vector<Suspicion>& attempt) {
  std::erase_if(all, [&](Suspicion& one) {
    const auto again = std::find_if(attempt.begin(), attempt.end(), [&](const auto& other) {
      return other.what == one.what && other.ranks == one.ranks;
    });
    if (again == attempt.end()) return true;
    one.factor = std::min(one.factor, again->factor);
    one.across_only = one.across_only && again->across_only;
    return false;
  });
}

}  // namespace

// The circle method: the last one stays, the others turn by one place per round.
std::vector<Round> pair_rounds(int members) {
  const int seats = members + members % 2, turning = seats - 1;
  std::vector<Round> rounds;
  for (int r = 0; r < turning && members > 1; ++r) {
    Round round;
    if (turning < members) round.push_back({r, turning});
    for (int k = 1; k < seats / 2; ++k) {
      const auto [low, high] = std::minmax({(r + k) % turning, (r - k + turning) % turning});
      round.push_back({low, high});
    }
    rounds.push_back(std::move(round));
  }
  return rounds;
}

std::vector<Round> host_rounds(std::span<const int> hosts) {
  std::map<int, Subset> ranks_of;
  for (std::size_t rank = 0; rank < hosts.size(); ++rank)
    ranks_of[hosts[rank]].push_back(static_cast<int>(rank));
  std::vector<Subset> groups;
  for (const auto& [_, ranks] : ranks_of) groups.push_back(ranks);
  std::vector<Round> rounds;
  for (const auto& meetings : pair_rounds(static_cast<int>(groups.size()))) {
    auto& round = rounds.emplace_back();
    for (const auto& meeting : meetings) {
      const auto &one = groups[static_cast<std::size_t>(meeting[0])],
                 &other = groups[static_cast<std::size_t>(meeting[1])];
      for (std::size_t i = 0; i < std::min(one.size(), other.size()); ++i)
        round.push_back({std::min(one[i], other[i]), std::max(one[i], other[i])});
    }
  }
  return rounds;
}

// Twice as many as a rank needs to meet as many others as there are.
std::vector<Round> subset_rounds(int ranks, int size) {
  const int partitions = std::max(kFewestPartitions, 2 * ((ranks - 1 + size - 2) / (size - 1)));
  const int subsets = ranks / size;
  Subset order(static_cast<std::size_t>(ranks));
  std::vector<Round> rounds;
  for (int p = 0; p < partitions; ++p) {
    const CounterRng random(static_cast<std::uint64_t>(p), hash64("rounds"));
    std::iota(order.begin(), order.end(), 0);
    for (std::size_t i = order.size() - 1; i > 0; --i) std::swap(order[i], order[random.below(i, i + 1)]);
    Round round(static_cast<std::size_t>(subsets));
    for (std::size_t i = 0; i < order.size(); ++i) round[i % round.size()].push_back(order[i]);
    for (auto& subset : round) std::sort(subset.begin(), subset.end());
    rounds.push_back(std::move(round));
  }
  return rounds;
}

std::vector<Suspicion> suspects(const Attempt& attempt, std::span<const int> hosts, double least_factor) {
  return Judge(attempt, hosts, {least_factor, kSuspectSigmas, 0}).found();
}

std::vector<Round> with_suspects_apart(std::span<const Round> rounds, std::span<const Suspicion> suspected) {
  const auto is_suspect = [&](const Subset& subset) {
    return std::any_of(suspected.begin(), suspected.end(), [&](const auto& one) {
      return one.what == SuspectKind::kLink && one.ranks == subset;
    });
  };
  std::vector<Round> apart;
  for (const auto& round : rounds) {
    apart.emplace_back();
    bool has_suspect = false;
    for (const auto& subset : round) {
      const bool suspect = is_suspect(subset);
      if (suspect && has_suspect) apart.emplace_back();
      has_suspect = has_suspect || suspect;
      apart.back().push_back(subset);
    }
  }
  return apart;
}

std::vector<Suspicion> confirmed(std::span<const Attempt> attempts, std::span<const int> hosts,
                                 double least_factor) {
  if (attempts.size() < 2) return {};
  const Limits limits{least_factor, kSlowSigmas, noise_between(attempts)};
  auto slow = Judge(attempts.front(), hosts, limits).found();
  for (const auto& attempt : attempts.subspan(1)) keep_common(slow, Judge(attempt, hosts, limits).found());
  return slow;
}

}  // namespace paceline::stats
