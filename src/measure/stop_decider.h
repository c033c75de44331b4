// SPDX-License-Identifier: MIT
#pragma once
#include <cstdint>
#include <optional>
#include <span>

#include "stats/stop_rule.h"
#include "stats/warmup.h"

namespace paceline::measure {

// Decides when warm-up and measurement end. It is asked at agreed counts only, outside the timed region:
// ranks that run the same loop stay in step when their deciders give the same answers (rank 0 decides and
// broadcasts).
class StopDecider {
 public:
  virtual ~StopDecider() = default;
  [[nodiscard]] virtual std::int64_t first_warmup_check() const = 0;
  // `durations_ns` are those since the last question; `elapsed_ns` counts from the start of warm-up.
  virtual stats::WarmupDecision warmup(std::span<const double> durations_ns, std::int64_t elapsed_ns) = 0;
  // `sample_ns` is the estimated duration of a sample.
  [[nodiscard]] virtual std::int64_t first_stop_check(double sample_ns) const = 0;
  // `samples_ns` are all so far, per iteration; `elapsed_ns` counts from the start of measuring.
  virtual stats::StopDecision stop(std::span<const double> samples_ns, std::int64_t elapsed_ns) = 0;
};

// For a single process. A converged series with left-over warm-up is extended once to twice its length.
class AloneDecider : public StopDecider {
 public:
  // With `iterations` the count is fixed: neither precision nor caps matter, and convergence does not apply.
  AloneDecider(const stats::WarmupConfig& warmup, stats::StopConfig stop,
               std::optional<std::int64_t> iterations = {});
  [[nodiscard]] std::int64_t first_warmup_check() const override { return warmup_.first_check(); }
  stats::WarmupDecision warmup(std::span<const double> durations_ns, std::int64_t elapsed_ns) override;
  [[nodiscard]] std::int64_t first_stop_check(double sample_ns) const override;
  stats::StopDecision stop(std::span<const double> samples_ns, std::int64_t elapsed_ns) override;

 private:
  [[nodiscard]] stats::StopDecision stop_at_count(std::span<const double> samples_ns) const;
  void extend(stats::StopDecision& decision, std::span<const double> samples_ns, std::int64_t elapsed_ns);

  stats::WarmupDetector warmup_;
  stats::StopConfig stop_;
  std::optional<std::int64_t> iterations_;
  bool extended_ = false;
};

}  // namespace paceline::measure
