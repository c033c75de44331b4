// SPDX-License-Identifier: MIT
#pragma once
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <string_view>
#include <vector>

#include "base/random.h"
#include "support/uneven_ranks.h"

// Random jobs with a rank that is late in a random pattern: sizes, jitter, accumulation and lateness all
// follow from a seed.
namespace paceline::testing {

inline constexpr double kOwnMs = 100;  // of a step

enum class Jitter { kNormal, kSkewed, kHeavyTailed, kCommon };
inline constexpr std::array<std::string_view, 4> kJitterNames{"normal", "skewed", "heavy-tailed", "common"};

enum class Lateness { kConstant, kSince, kUntil, kEvery, kBurst, kCoin };
inline constexpr std::array<std::string_view, 6> kLatenessNames{"always",    "since one", "until one",
                                                                "each k-th", "burst",     "at random"};

// Draws of mean 0 and standard deviation 1 for every rank and step.
class JitterDraws {
 public:
  JitterDraws(std::uint64_t seed, Jitter shape) : seed_(seed), shape_(shape) {}
  [[nodiscard]] double operator()(std::int64_t rank, std::int64_t step) const {
    const CounterRng random(seed_, 100 + static_cast<std::uint64_t>(rank));
    const auto at = static_cast<std::uint64_t>(step);
    if (shape_ == Jitter::kSkewed) return -std::log(1 - random.uniform(at)) - 1;
    if (shape_ != Jitter::kHeavyTailed) return random.normal(at);
    double squares = 0;  // Student's t with 5 degrees of freedom
    for (std::uint64_t k = 1; k <= 5; ++k) squares += std::pow(random.normal(at + 100'000 * k), 2);
    return random.normal(at) / std::sqrt(squares / 5) / std::sqrt(5.0 / 3);
  }

 private:
  std::uint64_t seed_;
  Jitter shape_;
};

struct DrawnPattern {
  Lateness lateness = Lateness::kConstant;
  Jitter shape = Jitter::kNormal;
  double jitter = 0;   // standard deviation of a step's own time, relative
  double late_ms = 0;  // of each step in a late exchange
  std::int64_t rank = 0;
  std::vector<bool> late;  // by exchange
  UnevenRanks run;
  // The first exchange has none before it, from which its steps could be timed.
  [[nodiscard]] std::int64_t late_exchanges() const {
    return std::count(late.begin() + std::min<std::ptrdiff_t>(1, std::ssize(late)), late.end(), true);
  }
};

inline std::vector<bool> late_exchanges(Lateness kind, std::size_t n, const CounterRng& random) {
  std::vector<bool> late(n);
  const auto between = [&](std::uint64_t index, double low, double high) {
    return low + (high - low) * random.uniform(index);
  };
  const auto part = static_cast<std::size_t>(std::llround(between(20, 0.2, 0.8) * static_cast<double>(n)));
  const std::size_t period = 2 + random.below(21, 9), phase = random.below(22, period);
  const std::size_t length = std::min<std::size_t>(n, 4 + random.below(23, 9)),
                    begin = random.below(24, n - length + 1);
  const double share = between(25, 0.2, 0.8);
  for (std::size_t i = 0; i < n; ++i) switch (kind) {
      case Lateness::kConstant:
        late[i] = true;
        break;
      case Lateness::kSince:
        late[i] = i >= part;
        break;
      case Lateness::kUntil:
        late[i] = i < part;
        break;
      case Lateness::kEvery:
        late[i] = i % period == phase;
        break;
      case Lateness::kBurst:
        late[i] = i >= begin && i < begin + length;
        break;
      case Lateness::kCoin:
        late[i] = random.uniform(1000 + i) < share;
        break;
    }
  return late;
}

// The late rank loses 5 to 10 standard deviations and 3 to 6 % of an exchange in each late one.
inline DrawnPattern drawn_pattern(std::uint64_t seed) {
  const CounterRng random(seed, 17);
  DrawnPattern drawn;
  drawn.lateness = static_cast<Lateness>(random.below(1, kLatenessNames.size()));
  drawn.shape = static_cast<Jitter>(random.below(2, kJitterNames.size()));
  drawn.jitter = 0.005 + 0.055 * random.uniform(3);
  UnevenRanks& run = drawn.run;
  run.ranks = 2 + static_cast<std::int64_t>(random.below(4, 15));
  run.accumulation = 1 + static_cast<std::int64_t>(random.below(5, 8));
  run.steps = 20 + static_cast<std::int64_t>(random.below(6, 181));
  drawn.rank = static_cast<std::int64_t>(random.below(7, static_cast<std::uint64_t>(run.ranks)));
  const auto per_exchange = static_cast<double>(run.accumulation);
  drawn.late_ms = kOwnMs * (5 * drawn.jitter / std::sqrt(per_exchange) + 0.03) * (1 + random.uniform(8));
  drawn.late = late_exchanges(drawn.lateness, static_cast<std::size_t>(run.steps / run.accumulation), random);
  const bool common = drawn.shape == Jitter::kCommon;
  run.own_ms = [=, draws = JitterDraws(seed, drawn.shape), all = CounterRng(seed, 18), late = drawn.late,
                jitter = drawn.jitter, late_ms = drawn.late_ms, who = drawn.rank,
                accumulation = run.accumulation](std::int64_t rank, std::int64_t step) {
    const auto exchange = static_cast<std::size_t>(step / accumulation);
    double own = 1 + jitter * draws(rank, step);
    if (common) own += 0.1 * all.normal(static_cast<std::uint64_t>(step));
    const bool is_late = rank == who && exchange < late.size() && late[exchange];
    return kOwnMs * std::max(0.1, own) + (is_late ? late_ms : 0);
  };
  return drawn;
}

}  // namespace paceline::testing
