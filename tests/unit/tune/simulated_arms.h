// SPDX-License-Identifier: MIT
// Arms with known costs under noise, for simulated searches.
#pragma once
#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "base/random.h"
#include "tune/search.h"

namespace paceline::tune::simulated {

struct TrueArm {
  std::string key;
  double cost = 1;
  double sd = 0.03;  // of the logarithm, between processes
};

// A machine whose speed drifts: all arms of a round share a random walk of 2 % per round and a slow wave of
// 10 %. Each process has its own noise, and one in twelve waits for a neighbour: 5 to 40 % more. A figure
// depends on seed, key and round alone, whatever the order of arms.
class Machine {
 public:
  explicit Machine(std::uint64_t seed) : seed_(seed) {}

  [[nodiscard]] double cost(const TrueArm& arm, std::size_t round) const {
    const CounterRng own(seed_, hash64(arm.key));
    const auto first = static_cast<std::uint64_t>(round) * 8;
    const double wait = own.uniform(first + 6) < 1.0 / 12 ? 0.05 + 0.35 * own.uniform(first + 7) : 0;
    return arm.cost * std::exp(drift(round) + arm.sd * own.normal(first)) * (1 + wait);
  }

 private:
  [[nodiscard]] double drift(std::size_t round) const {
    const CounterRng shared(seed_, hash64("drift"));
    double level = 0.1 * std::sin(0.7 * static_cast<double>(round) + 6 * shared.uniform(1000));
    for (std::size_t r = 0; r <= round; ++r) level += 0.02 * shared.normal(r);
    return level;
  }

  std::uint64_t seed_;
};

inline std::vector<std::string> keys_of(const std::vector<TrueArm>& arms) {
  std::vector<std::string> keys;
  for (const auto& arm : arms) keys.push_back(arm.key);
  return keys;
}

inline Outcome measured(std::size_t arm, double cost) {
  Outcome outcome;
  outcome.arm = arm;
  outcome.cost = cost;
  return outcome;
}

// A whole search, and the number of its processes.
struct Searched {
  Search search;
  std::size_t processes = 0;
};
inline Searched run_search(const std::vector<TrueArm>& arms, std::uint64_t seed, const Rules& rules = {}) {
  const Machine machine(seed);
  Searched result{Search(keys_of(arms), rules)};
  for (auto round = result.search.next(); !round.empty(); round = result.search.next()) {
    std::vector<Outcome> outcomes;
    for (const auto i : round) outcomes.push_back(measured(i, machine.cost(arms[i], result.search.rounds())));
    result.processes += round.size();
    result.search.take(outcomes);
  }
  return result;
}

// Arms as a search over engines, precisions and threads has them; the first is the best, by `gap`. Those that
// use more threads vary more.
inline std::vector<TrueArm> typical_arms(double gap) {
  std::vector<TrueArm> arms{{"arm00", 1, 0.03}};
  constexpr double kCosts[] = {0, 0.01, 0.05, 0.12, 0.3, 0.5, 0.8, 1, 1.5, 2.2, 3};
  for (std::size_t i = 0; i < std::size(kCosts); ++i)
    arms.push_back({"arm" + std::to_string(11 + i), 1 + gap + kCosts[i], i % 3 == 0 ? 0.08 : 0.02});
  return arms;
}

}  // namespace paceline::tune::simulated
