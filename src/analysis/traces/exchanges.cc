// SPDX-License-Identifier: MIT
#include "analysis/traces/exchanges.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <map>
#include <numeric>
#include <utility>

namespace paceline::analysis::traces {
namespace {

// Indices into the exchanges of each rank's step; empty of a rank that takes no part.
using Places = std::vector<std::vector<std::size_t>>;

// Exchanges that are at the same time on some rank, as one.
struct Joint {
  Places places;
  bool together = false;  // it ends on all that take part together
  std::int64_t order = 0;
};

// One step of all ranks.
class Step {
 public:
  Step(const std::vector<RankTrace>& ranks, std::size_t at) : ranks_(ranks), at_(at) {}
  [[nodiscard]] std::size_t world() const { return ranks_.size(); }
  [[nodiscard]] const TraceStep& of(std::size_t rank) const { return ranks_[rank].steps[at_]; }
  [[nodiscard]] const Exchange& exchange(std::size_t rank, std::size_t i) const {
    return of(rank).exchanges[i];
  }
  [[nodiscard]] bool follows() const {
    return at_ > 0 && ranks_.front().steps[at_ - 1].number + 1 == ranks_.front().steps[at_].number;
  }

 private:
  const std::vector<RankTrace>& ranks_;
  std::size_t at_;
};

using Key = std::pair<CallKind, std::uint32_t>;

std::map<Key, Places> by_key(const Step& step) {
  std::map<Key, Places> all;
  for (std::size_t r = 0; r < step.world(); ++r)
    for (std::size_t i = 0; i < step.of(r).exchanges.size(); ++i) {
      const Exchange& one = step.exchange(r, i);
      if (!is_collective(one.kind)) continue;
      auto& places = all[{one.kind, one.group}];
      places.resize(step.world());
      places[r].push_back(i);
    }
  return all;
}

// Empty: the exchanges of this key are the same on all ranks that have them.
std::string mismatch(const Places& places, std::uint32_t group) {
  std::optional<std::size_t> first;
  for (std::size_t r = 0; r < places.size(); ++r) {
    if (places[r].empty() && group != 0) continue;  // the group has other ranks
    if (!first) first = r;
    if (places[r].size() != places[*first].size())
      return fmt::format("{} and {} exchanges of one kind", places[*first].size(), places[r].size());
  }
  return {};
}

// Unites exchanges that overlap on a rank: which of them a moment is of would be arbitrary.
class Union {
 public:
  explicit Union(std::size_t n) : parent_(n) { std::iota(parent_.begin(), parent_.end(), std::size_t{0}); }
  std::size_t root(std::size_t i) {
    while (parent_[i] != i) i = parent_[i] = parent_[parent_[i]];
    return i;
  }
  void join(std::size_t a, std::size_t b) { parent_[root(a)] = root(b); }

 private:
  std::vector<std::size_t> parent_;
};

// Whether exchanges that were matched overlap on this rank; `id`: of each exchange, or none.
void join_overlapping(const Step& step, std::size_t rank, const std::vector<std::optional<std::size_t>>& id,
                      Union& ids) {
  std::optional<std::size_t> before;
  std::int64_t end = std::numeric_limits<std::int64_t>::min();
  for (std::size_t i = 0; i < id.size(); ++i) {
    if (!id[i]) continue;
    const Exchange& one = step.exchange(rank, i);
    if (before && one.begin < end) ids.join(*before, *id[i]);
    if (one.end > end) end = one.end, before = *id[i];
  }
}

// In the order of the first rank that takes part in each; empty with `why` where they cannot be matched.
std::vector<Joint> matched(const Step& step, std::string& why) {
  std::vector<std::vector<std::optional<std::size_t>>> id(step.world());
  for (std::size_t r = 0; r < step.world(); ++r) id[r].resize(step.of(r).exchanges.size());
  std::size_t count = 0;
  for (const auto& [key, places] : by_key(step)) {
    if (why = mismatch(places, key.second); !why.empty()) return {};
    std::size_t each = 0, ranks = 0;
    for (const auto& of_rank : places)
      each = std::max(each, of_rank.size()), ranks += of_rank.empty() ? 0 : 1;
    if (ranks < 2) continue;  // of a group whose other ranks have no trace
    for (std::size_t r = 0; r < places.size(); ++r)
      for (std::size_t k = 0; k < places[r].size(); ++k) id[r][places[r][k]] = count + k;
    count += each;
  }
  Union ids(count);
  for (std::size_t r = 0; r < step.world(); ++r) join_overlapping(step, r, id[r], ids);
  std::map<std::size_t, Joint> joints;
  for (std::size_t r = 0; r < step.world(); ++r)
    for (std::size_t i = 0; i < id[r].size(); ++i) {
      if (!id[r][i]) continue;
      auto [at, is_new] = joints.try_emplace(ids.root(*id[r][i]));
      if (is_new)
        at->second.places.resize(step.world()),
            at->second.order = step.exchange(r, i).begin - step.of(r).begin;
      at->second.places[r].push_back(i);
      at->second.together |= ends_together(step.exchange(r, i).kind);
    }
  std::vector<Joint> all;
  for (auto& [root, joint] : joints) all.push_back(std::move(joint));
  std::ranges::stable_sort(all, {}, &Joint::order);
  return all;
}

// Everything of a step as one, where it cannot be told apart.
std::vector<Joint> whole_step(const Step& step) {
  Joint all{.places = Places(step.world())};
  bool together = true;
  for (std::size_t r = 0; r < step.world(); ++r) {
    bool has = false;
    for (std::size_t i = 0; i < step.of(r).exchanges.size(); ++i)
      all.places[r].push_back(i), has |= ends_together(step.exchange(r, i).kind);
    together &= has;
  }
  all.together = together;
  if (std::ranges::any_of(all.places, [](const auto& of_rank) { return of_rank.empty(); })) return {};
  return {std::move(all)};
}

// A rank since it was last level with the others.
struct RankState {
  std::optional<std::int64_t> level;  // since when, on its clock
  std::int64_t behind = 0;            // communication by which its partners may be ahead of it
  std::int64_t waited = 0;            // since the last exchange of all ranks
};

// Time that ranks spend in one joint.
struct Part {
  std::size_t rank;
  std::int64_t exposed = 0, begin = std::numeric_limits<std::int64_t>::max(), end = 0;
};

class Waiting {
 public:
  explicit Waiting(std::size_t world) : state_(world) {}

  StepWaits add(const Step& step, const std::vector<Joint>& joints) {
    StepWaits waits;
    if (!step.follows()) state_.assign(step.world(), {});
    std::vector<std::vector<bool>> seen(step.world());
    for (std::size_t r = 0; r < step.world(); ++r) seen[r].resize(step.of(r).exchanges.size());
    std::vector<std::int64_t> in_step(step.world());
    for (const auto& joint : joints) {
      const auto parts = parts_of(step, joint);
      for (const auto& part : parts)
        for (const auto i : joint.places[part.rank]) seen[part.rank][i] = true;
      if (joint.together)
        add_together(step, parts, seen);
      else
        add_rooted(step, parts);
      if (!joint.together || parts.size() < step.world()) continue;
      waits.level = last_places(step, joint);
      for (std::size_t r = 0; r < step.world(); ++r) in_step[r] += std::exchange(state_[r].waited, 0);
    }
    for (std::size_t r = 0; r < step.world(); ++r) {
      if (!waits.level) in_step[r] += std::exchange(state_[r].waited, 0);
      state_[r].behind += unmatched_until(step, r, seen[r], std::numeric_limits<std::int64_t>::max());
    }
    waits.waited = std::move(in_step);
    return waits;
  }

 private:
  static std::vector<Part> parts_of(const Step& step, const Joint& joint) {
    std::vector<Part> parts;
    for (std::size_t r = 0; r < step.world(); ++r) {
      if (joint.places[r].empty()) continue;
      Part part{.rank = r};
      for (const auto i : joint.places[r]) {
        const Exchange& one = step.exchange(r, i);
        part.exposed += one.exposed;
        part.begin = std::min(part.begin, one.begin);
        part.end = std::max(part.end, one.end);
      }
      parts.push_back(part);
    }
    return parts;
  }

  // Sums exchanges that match none of other ranks: pairs, groups whose other ranks have no trace.
  static std::int64_t unmatched_until(const Step& step, std::size_t rank, std::vector<bool>& seen,
                                      std::int64_t end) {
    std::int64_t sum = 0;
    for (std::size_t i = 0; i < seen.size() && step.exchange(rank, i).begin < end; ++i) {
      if (seen[i]) continue;
      sum += step.exchange(rank, i).exposed;
      seen[i] = true;
    }
    return sum;
  }

  // The rank with the shortest was ready last. Where it was so because an earlier exchange kept it, its
  // communication since then is as long as that of the others, and they wait for no rank: the smaller
  // difference counts.
  void add_together(const Step& step, const std::vector<Part>& parts, std::vector<std::vector<bool>>& seen) {
    std::int64_t shortest = std::numeric_limits<std::int64_t>::max(), least = shortest;
    for (const auto& part : parts) {
      auto& state = state_[part.rank];
      state.behind += unmatched_until(step, part.rank, seen[part.rank], part.end);
      shortest = std::min(shortest, part.exposed);
      least = std::min(least, part.exposed + state.behind);
    }
    for (const auto& part : parts) {
      auto& state = state_[part.rank];
      state.waited += std::min(part.exposed - shortest, part.exposed + state.behind - least);
      state.behind = 0;
      if (parts.size() == step.world()) state.level = part.end;
    }
  }

  // A rank may leave before others have come, so that it need not have waited for them: only until the last
  // one came. Ends of exchanges differ a little between ranks, so half of it is enough.
  void add_rooted(const Step& step, const std::vector<Part>& parts) {
    std::int64_t shortest = std::numeric_limits<std::int64_t>::max(), last = -shortest;
    const auto asked = [&](const Part& part) {
      return part.begin - state_[part.rank].level.value_or(step.of(part.rank).begin);
    };
    for (const auto& part : parts) {
      shortest = std::min(shortest, part.exposed);
      last = std::max(last, asked(part));
    }
    for (const auto& part : parts) {
      const std::int64_t more = part.exposed - shortest, gap = last - asked(part);
      const std::int64_t waited = 2 * gap >= more ? more : gap;
      state_[part.rank].waited += waited;
      state_[part.rank].behind += part.exposed - waited;
    }
  }

  static std::vector<std::size_t> last_places(const Step& step, const Joint& joint) {
    std::vector<std::size_t> last;
    for (std::size_t r = 0; r < step.world(); ++r)
      last.push_back(*std::ranges::max_element(joint.places[r], {},
                                               [&](std::size_t i) { return step.exchange(r, i).end; }));
    return last;
  }

  std::vector<RankState> state_;
};

}  // namespace

std::string mismatch_at(const std::vector<RankTrace>& ranks, std::size_t at) {
  for (const auto& [key, places] : by_key(Step(ranks, at)))
    if (auto why = mismatch(places, key.second); !why.empty()) return why;
  return {};
}

Waits waits_of(const std::vector<RankTrace>& ranks) {
  Waits waits;
  Waiting waiting(ranks.size());
  for (std::size_t at = 0; at < ranks.front().steps.size(); ++at) {
    const Step step(ranks, at);
    std::string why;
    auto joints = matched(step, why);
    if (!why.empty()) {
      joints = whole_step(step);
      if (waits.unmatched++ == 0)
        waits.unmatched_words = fmt::format("step {} has {}", ranks.front().steps[at].number, why);
    }
    waits.steps.push_back(waiting.add(step, joints));
  }
  return waits;
}

}  // namespace paceline::analysis::traces
