// SPDX-License-Identifier: MIT
#pragma once
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "base/random.h"
#include "result/figures/step_account.h"
#include "result/stored/rank_steps.h"

// A simulator of data-parallel training with known truth: ranks, buckets, a link, jitter, and whatever makes
// a rank late. All-reduces run one after the other, each from when the last rank has launched it.
namespace paceline::testing {

struct SimulatedDelay {
  std::int64_t rank = -1;  // -1: all ranks
  result::OwnPart where = result::OwnPart::kBackward;
  double ms = 0;
  std::int64_t from_step = 0;
};

struct SimulatedTraining {
  std::int64_t ranks = 4, steps = 60;
  double data_ms = 1, input_ms = 0.5, forward_ms = 30, backward_ms = 60, optimizer_ms = 5, pause_ms = 0.2;
  double jitter = 0.01;  // standard deviation of a part, relative
  std::vector<std::int64_t> bucket_bytes{8 << 20, 8 << 20, 1 << 20};
  double alpha_ms = 0.05, gb_per_s = 1;  // of one message, and of the link
  double buffers_ms = 0;                 // of rank 0's buffers before forward; 0: none
  bool sender_waits = false;             // rank 0 sends its buffers when all ranks have asked for them
  std::vector<SimulatedDelay> delays{};
  std::uint64_t seed = 1;
};

struct SimulatedTruth {
  double straggler_wait_ms = 0, communication_ms = 0, data_wait_ms = 0,
         step_ms = 0;  // means of timed steps; waiting is that of rank 0
};

struct SimulatedRun {
  std::vector<result::RankSteps> ranks;
  SimulatedTruth truth;
};

// Time of a ring all-reduce (methodology: communication metrics).
inline double all_reduce_ms(const SimulatedTraining& w, std::int64_t bytes, std::int64_t ranks) {
  const auto n = static_cast<double>(ranks);
  if (ranks < 2) return 0;
  return 2 * (n - 1) * w.alpha_ms + 2 * (n - 1) / n * static_cast<double>(bytes) / (w.gb_per_s * 1e6);
}

class TrainingSimulator {
 public:
  static constexpr std::int64_t kWarmup = 4;
  explicit TrainingSimulator(const SimulatedTraining& w) : w_(w) {}

  SimulatedRun run() {
    SimulatedRun out;
    for (std::int64_t r = 0; r < w_.ranks; ++r) {
      auto& table = out.ranks.emplace_back();
      table.rank.rank = r;
      table.rank.host = "node" + std::to_string(r);
    }
    pending_.assign(static_cast<std::size_t>(w_.ranks), 0);
    for (std::int64_t s = 0; s < w_.steps; ++s) one_step(s, out);
    const auto timed = static_cast<double>(w_.steps - kWarmup);
    auto& t = out.truth;
    for (double* sum : {&t.straggler_wait_ms, &t.communication_ms, &t.data_wait_ms, &t.step_ms})
      *sum /= timed;
    return out;
  }

 private:
  using Own = result::OwnPart;
  using Part = result::StepPart;

  double draw(std::int64_t step, std::int64_t rank, Own part, double ms) const {
    const CounterRng random(w_.seed, static_cast<std::uint64_t>(rank * 16 + static_cast<int>(part)));
    double duration = ms * std::max(0.1, 1 + w_.jitter * random.normal(static_cast<std::uint64_t>(step)));
    for (const auto& delay : w_.delays)
      if ((delay.rank < 0 || delay.rank == rank) && delay.where == part && step >= delay.from_step)
        duration += delay.ms;
    return duration;
  }

  void one_step(std::int64_t s, SimulatedRun& out) {
    const auto n = static_cast<std::size_t>(w_.ranks);
    std::vector<double> start(n), data(n), host(n), input(n), asked(n), begun(n), forward(n), backward(n);
    double ready = 0;
    for (std::size_t r = 0; r < n; ++r) {
      const auto rank = static_cast<std::int64_t>(r);
      start[r] = exchanged_ + pending_[r] + draw(s, rank, Own::kPause, w_.pause_ms);
      data[r] = draw(s, rank, Own::kDataWait, w_.data_ms);
      host[r] = draw(s, rank, Own::kHost, 0);
      input[r] = draw(s, rank, Own::kInput, w_.input_ms);
      asked[r] = start[r] + data[r] + host[r] + input[r];
      begun[r] = asked[r];
      if (w_.buffers_ms > 0 && r > 0) begun[r] = std::max(asked[r], asked[0]) + w_.buffers_ms;
      forward[r] = draw(s, rank, Own::kForward, w_.forward_ms);
      backward[r] = draw(s, rank, Own::kBackward, w_.backward_ms);
    }
    if (w_.buffers_ms > 0 && w_.sender_waits) begun[0] = *std::ranges::max_element(asked) + w_.buffers_ms;
    for (std::size_t r = 0; r < n; ++r) ready = std::max(ready, begun[r] + forward[r] + backward[r]);
    const auto buckets = w_.bucket_bytes.size();
    std::vector<double> finished(buckets);
    double free_at = 0;
    const auto launch = [&](std::size_t r, std::size_t b) {
      return begun[r] + forward[r] + backward[r] * static_cast<double>(b + 1) / static_cast<double>(buckets);
    };
    for (std::size_t b = 0; b < buckets; ++b) {
      for (std::size_t r = 0; r < n; ++r) free_at = std::max(free_at, launch(r, b));
      finished[b] = free_at += all_reduce_ms(w_, w_.bucket_bytes[b], w_.ranks);
    }
    const double before = exchanged_;
    exchanged_ = free_at;
    for (std::size_t r = 0; r < n; ++r) {
      result::StepRow row;
      row.step = s;
      row.phase = s < kWarmup ? result::StepPhase::kWarmup : result::StepPhase::kTimed;
      const double optimizer = draw(s, static_cast<std::int64_t>(r), Own::kOptimizer, w_.optimizer_ms);
      row.start_ns = ns(start[r]) + clock_offset(r);
      row.ns[Part::kDataWait] = ns(data[r]), row.ns[Part::kInput] = ns(input[r]);
      row.ns[Part::kForward] = ns(forward[r]), row.ns[Part::kBackward] = ns(backward[r]);
      row.ns[Part::kExposed] = ns(begun[r] - asked[r] + exchanged_ - launch(r, buckets - 1));
      row.ns[Part::kOptimizer] = ns(optimizer);
      row.step_ns = ns(exchanged_ - start[r]) + row.ns[Part::kOptimizer];
      for (std::size_t b = 0; b < buckets; ++b)
        row.buckets.push_back({w_.bucket_bytes[b], ns(launch(r, b) - start[r]), ns(finished[b] - start[r])});
      row.loss = 1;
      out.ranks[r].rows.push_back(std::move(row));
      pending_[r] = optimizer;
      if (s < kWarmup) continue;
      const double late = std::max(0.0, begun[r] - asked[r] - w_.buffers_ms);
      const auto share = 1 / static_cast<double>(n);
      if (r == 0) out.truth.straggler_wait_ms += ready - launch(r, buckets - 1);
      out.truth.communication_ms += (exchanged_ - ready + begun[r] - asked[r] - late) * share;
      out.truth.data_wait_ms += data[r] * share;
      out.truth.step_ms += (exchanged_ - before) * share;
    }
  }

  static std::int64_t ns(double ms) { return std::llround(ms * 1e6); }
  // Every host's clock began at another time.
  [[nodiscard]] std::int64_t clock_offset(std::size_t rank) const {
    return static_cast<std::int64_t>(CounterRng(w_.seed, 999).uniform(rank) * 1e15);
  }

  SimulatedTraining w_;
  double exchanged_ = 0;         // end of the last exchange
  std::vector<double> pending_;  // optimizer of the step before, by rank
};

inline SimulatedRun simulate(const SimulatedTraining& world) {
  return TrainingSimulator(world).run();
}

}  // namespace paceline::testing
