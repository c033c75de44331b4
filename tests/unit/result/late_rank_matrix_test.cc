// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>

#include "result/figures/summarize_training.h"
#include "support/simulated_training.h"

// 2,000 simulated runs: who is late, in which part and why was put in, against what was named.
namespace paceline::result {
namespace {

using testing::SimulatedTraining;

constexpr std::uint64_t kSimulated = 2000;
constexpr std::array kPlaces{OwnPart::kOptimizer, OwnPart::kPause,    OwnPart::kDataWait, OwnPart::kHost,
                             OwnPart::kForward,   OwnPart::kBackward, OwnPart::kCount};  // kCount: nobody

constexpr int kThreads = 4;  // of each rank; some counters are summed over them

void add(Number& figure, double more) {
  figure = *figure + more;
}

// Figures of a rank where a cause takes `ms` of its `own_ms` per step.
struct Shown {
  std::string_view cause;
  void (*by)(RankEvidence& e, double ms, double own_ms);
};
constexpr std::array kShown{
    Shown{"unknown", [](RankEvidence&, double, double) {}},
    Shown{"cpu_wait", [](RankEvidence& e, double ms, double) { add(e.runq_wait_ns, ms * 1e6); }},
    Shown{"foreign_process",  // it also runs while the rank waits for others
          [](RankEvidence& e, double ms, double own_ms) {
            add(e.runq_wait_ns, ms * 1e6);
            add(e.foreign_frac, 0.05 + ms / own_ms);
          }},
    Shown{"steal", [](RankEvidence& e, double ms, double own_ms) { add(e.steal_frac, ms / own_ms); }},
    Shown{"cpu_quota", [](RankEvidence& e, double ms, double) { add(e.throttled_ns, kThreads * ms * 1e6); }},
    Shown{"clock",
          [](RankEvidence& e, double ms, double own_ms) { e.core_mhz = *e.core_mhz * (1 - ms / own_ms); }},
    Shown{"page_faults", [](RankEvidence& e, double ms, double) {
            add(e.system_ns, kThreads * ms * 1e6);
            add(e.minor_faults, 5000);
          }}};
const Shown& shown_as(std::string_view cause) {
  return *std::ranges::find(kShown, cause, &Shown::cause);
}

// A machine that is never quite still, in steps of 97 ms.
RankEvidence background(const CounterRng& random, std::uint64_t rank) {
  const auto up_to = [&](std::uint64_t figure, double most) {
    return most * random.uniform(100 + rank * 16 + figure);
  };
  RankEvidence e;
  e.runq_wait_ns = up_to(0, 1.5e6), e.throttled_ns = kThreads * up_to(1, 0.5e6);
  e.system_ns = kThreads * (1e6 + up_to(2, 1.5e6)), e.minor_faults = up_to(3, 200);
  e.steal_frac = up_to(4, 0.015), e.foreign_frac = up_to(5, 0.04);
  e.core_mhz = 2500 * (1 - up_to(6, 0.01)), e.cpu_ns = 90e6, e.major_faults = up_to(7, 0.5);
  return e;
}

// One run, with the truth about it.
struct Played {
  OwnPart where = OwnPart::kCount;
  std::int64_t rank = 0;
  std::string cause = "unknown";
  testing::SimulatedRun run{};
};

// The cause takes 60 to 100 % of the delay. Half of the slow loaders also wait for a CPU, for half as long.
Played play(std::uint64_t seed) {
  const CounterRng random(seed, 7);
  SimulatedTraining world{.ranks = 2 + static_cast<std::int64_t>(random.below(0, 7)),
                          .steps = 44,
                          .jitter = 0.005 + 0.02 * random.uniform(1),
                          .buffers_ms = random.uniform(2) < 0.5 ? 0.0 : 0.2,
                          .sender_waits = random.uniform(7) < 0.5,
                          .seed = seed};
  Played played{.where = kPlaces.at(seed % kPlaces.size())};
  played.rank = static_cast<std::int64_t>(random.below(3, static_cast<std::uint64_t>(world.ranks)));
  const double delay_ms = 3.5 + 16 * random.uniform(4);
  const double own_ms = world.data_ms + world.input_ms + world.forward_ms + world.backward_ms +
                        world.optimizer_ms + world.pause_ms + delay_ms;
  if (played.where != OwnPart::kCount)
    world.delays = {{.rank = played.rank, .where = played.where, .ms = delay_ms}};
  played.run = simulate(world);
  for (auto& table : played.run.ranks) {
    table.rank.threads = kThreads;
    table.rank.evidence = background(random, static_cast<std::uint64_t>(table.rank.rank));
  }
  auto& evidence = played.run.ranks[static_cast<std::size_t>(played.rank)].rank.evidence;
  if (played.where == OwnPart::kDataWait) {
    played.cause = "loader";
    if (random.uniform(5) < 0.5) shown_as("cpu_wait").by(evidence, delay_ms / 2, own_ms);
  } else if (played.where != OwnPart::kCount) {
    const auto& shown = kShown.at(seed / kPlaces.size() % kShown.size());
    shown.by(evidence, delay_ms * (0.6 + 0.4 * random.uniform(6)), own_ms);
    played.cause = shown.cause;
  }
  return played;
}

class Matrix {
 public:
  void count(const std::string& put_in, const std::string& named) {
    ++cells_[{put_in, named}];
    ++all_;
    right_ += put_in == named;
  }
  [[nodiscard]] double right() const { return static_cast<double>(right_) / all_; }
  // The share that is right among the runs with what is named worst.
  [[nodiscard]] double worst() const {
    std::map<std::string, std::pair<int, int>> rows;
    for (const auto& [cell, count] : cells_) {
      rows[cell.first].first += cell.first == cell.second ? count : 0;
      rows[cell.first].second += count;
    }
    double worst = 1;
    for (const auto& [put_in, row] : rows)
      worst = std::min(worst, static_cast<double>(row.first) / row.second);
    return worst;
  }
  [[nodiscard]] std::string table() const {
    std::string text;
    for (const auto& [cell, count] : cells_)
      text += cell.first + " -> " + cell.second + ": " + std::to_string(count) + "\n";
    return text;
  }

 private:
  std::map<std::pair<std::string, std::string>, int> cells_;
  int all_ = 0, right_ = 0;
};

TEST(LateRank, ConfusionMatrixOfSimulatedRuns) {
  Matrix parts, causes;
  int clean = 0, suspected = 0;
  for (std::uint64_t seed = 0; seed < kSimulated; ++seed) {
    const auto played = play(seed);
    Training training;
    training.ddp = true;
    summarize_training(training, played.run.ranks, 8);
    const auto& late = training.late;
    const bool nobody = played.where == OwnPart::kCount;
    const bool found = !late.empty() && late.front().rank == played.rank;
    parts.count(nobody ? "nothing" : traits_of(played.where).late_in, late.empty() ? "nothing"
                                                                      : found      ? late.front().late_in
                                                                                   : "another rank");
    clean += nobody;
    suspected += nobody && !late.empty();
    if (nobody || !found) continue;
    const auto& named = late.front().causes;
    causes.count(played.cause, named.empty() ? "unknown" : named.front().name);
  }
  RecordProperty("confusion_matrix", parts.table());
  RecordProperty("confusion_matrix_of_causes", causes.table());
  EXPECT_GE(parts.right(), 0.95) << parts.table();
  EXPECT_LE(suspected, clean / 20) << parts.table();
  EXPECT_GE(causes.right(), 0.95) << causes.table();
  EXPECT_GE(causes.worst(), 0.85) << causes.table();
}

}  // namespace
}  // namespace paceline::result
