// SPDX-License-Identifier: MIT
#pragma once
#include <cstdint>
#include <optional>
#include <span>

#include "stats/stop_rule.h"
#include "stats/warmup.h"

namespace paceline::measure {

// Decides when warm-up and measurement end. Asked at agreed counts only, outside the timed region: ranks that
// run the same loop stay in step when their deciders answer alike (rank 0 decides and broadcasts).
class StopDecider {
 public:
  virtual ~StopDecider() = default;
  [[nodiscard]] virtual std::int64_t first_warmup_check() const = 0;
  // Durations since the last question; elapsed since warm-up began.
  virtual stats::WarmupDecision warmup(std::span<const double> durations_ns, std::int64_t elapsed_ns) = 0;
  // `sample_ns`: how long a sample probably takes.
  [[nodiscard]] virtual std::int64_t first_stop_check(double sample_ns) const = 0;
  // All samples so far, per iteration; elapsed since measuring began.
  virtual stats::StopDecision stop(std::span<const double> samples_ns, std::int64_t elapsed_ns) = 0;
};

// One process, nobody to agree with. A converged series with left-over warm-up in it is extended once to
// twice its length.
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
