// SPDX-License-Identifier: MIT
#include "workload/pass_records.h"

namespace paceline::workload {
namespace {

const char* steady_state_name(const measure::LoopConfig& config, stats::WarmupState state) {
  if (config.warmup.mode != stats::WarmupMode::kAuto) return "fixed";
  return state == stats::WarmupState::kDone ? "reached" : "not_reached";
}

}  // namespace

void fill_loop(result::Repetition& r, const measure::LoopConfig& config, const measure::LoopResult& loop) {
  r.first_iteration_ns = static_cast<double>(loop.warmup.first_iteration_ns);
  r.warmup_mode = config.warmup.mode == stats::WarmupMode::kAuto ? "auto" : "fixed";
  r.warmup_iterations = loop.warmup.iterations;
  r.warmup_ns = loop.warmup.duration_ns;
  r.steady_state = steady_state_name(config, loop.warmup.state);
  r.mser_cut = loop.mser ? loop.mser->cut : 0;
  r.residual_warmup = loop.mser && loop.mser->residual_warmup;
  r.converged = {loop.stop.converged, "fixed_iterations"};
  r.stop_reason = loop.stop.reason;
  r.unmet = loop.stop.unmet;
  r.elapsed_ns = loop.elapsed_ns;
  r.checks = loop.checks;
}

pass::ProgressRecord to_progress(const measure::Progress& p) {
  pass::ProgressRecord record{p.phase == measure::Phase::kWarmup ? "warmup" : "measure",
                              p.n,
                              static_cast<double>(p.elapsed_ns) * 1e-9,
                              {},
                              {},
                              {}};
  if (p.median_ns) record.p50_ns = *p.median_ns;
  if (p.decision == nullptr || p.decision->first.ppm != stats::kPpmP50) return record;
  const auto& p50 = p.decision->first;
  if (p50.value) record.p50_ns = *p50.value;  // else the median stands, which needs no interval
  record.ci_low_ns = {p50.ci_low, "insufficient_samples"};
  record.ci_high_ns = {p50.ci_high, "insufficient_samples"};
  return record;
}

}  // namespace paceline::workload
