// SPDX-License-Identifier: MIT
#include "stats/stop_rule.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "stats/autocorrelation.h"

namespace paceline::stats {
namespace {

std::string label(std::uint32_t ppm) {
  return fmt::format("p{:g}", ppm / 1e4);
}

// Appends to `unmet` what a wanted quantile still lacks.
void judge_quantile(std::vector<std::string>& unmet, const QuantileEstimate& estimate,
                    const Precision& wanted, double n, double tau) {
  if (!estimate.value) {
    unmet.push_back(fmt::format("{}: {:.1f} independent samples of {} needed", label(estimate.ppm),
                                estimate.n_eff,
                                required_n(ppm_to_p(estimate.ppm), tail(estimate.confidence))));
    return;
  }
  const auto width = relative_halfwidth(estimate);
  if (!width) {
    unmet.push_back(
        fmt::format("{}: no relative width for a value of {}", label(estimate.ppm), *estimate.value));
  } else if (*width > wanted.rel_halfwidth) {
    unmet.push_back(fmt::format("{}: interval +-{:.2f} % is wider than {:.2f} %", label(estimate.ppm),
                                *width * 100, wanted.rel_halfwidth * 100));
  }
  if (n < wanted.tau_guard * tau) {
    unmet.push_back(fmt::format("{}: {} samples are fewer than {} autocorrelation times of {:.1f}",
                                label(estimate.ppm), n, wanted.tau_guard, tau));
  }
}

void judge_minimum(StopDecision& decision, std::int64_t n, std::int64_t elapsed_ns,
                   const StopConfig& config) {
  if (n < config.n_min) decision.unmet.push_back(fmt::format("{} of at least {} samples", n, config.n_min));
  if (elapsed_ns < config.t_min_ns) {
    decision.unmet.push_back(fmt::format("{:.2f} of at least {:.2f} s", static_cast<double>(elapsed_ns) / 1e9,
                                         static_cast<double>(config.t_min_ns) / 1e9));
  }
}

void judge_quantiles(StopDecision& decision, std::span<const double> x, const StopConfig& config) {
  const auto sorted = sorted_copy(x);
  const auto n = static_cast<double>(x.size());
  decision.first = estimate_quantile(
      x, sorted, config.quantiles_ppm.empty() ? kPpmP50 : config.quantiles_ppm.front(), config.confidence);
  if (config.quantiles_ppm.empty()) return;
  const double tau = tau_geyer(x);
  for (auto ppm : config.quantiles_ppm) {
    const auto estimate =
        ppm == decision.first.ppm ? decision.first : estimate_quantile(x, sorted, ppm, config.confidence);
    judge_quantile(decision.unmet, estimate, precision_of(config, ppm), n, tau);
  }
}

void conclude(StopDecision& decision, std::int64_t n, std::int64_t elapsed_ns, const StopConfig& config) {
  const bool wants_quantiles = !config.quantiles_ppm.empty();
  if (decision.unmet.empty()) {
    decision.reason = wants_quantiles ? kStopConverged : kStopMinimum;
  } else if (n >= config.n_max) {
    decision.reason = kStopMaxSamples;
  } else if (elapsed_ns >= config.t_max_ns) {
    decision.reason = kStopMaxTime;
  }
  decision.stop = !decision.reason.empty();
  if (decision.stop && wants_quantiles) decision.converged = decision.unmet.empty();
}

}  // namespace

const Precision& precision_of(const StopConfig& config, std::uint32_t ppm) {
  static const Precision kLoose{0, 0.05, 100};
  if (config.precisions.empty()) return kLoose;
  const auto* best = &config.precisions.front();
  for (const auto& row : config.precisions)
    if (row.ppm <= ppm && (row.ppm > best->ppm || best->ppm > ppm)) best = &row;
  return *best;
}

std::int64_t next_checkpoint(std::int64_t n, std::int64_t elapsed_ns, const StopConfig& config) {
  const auto grown = static_cast<std::int64_t>(std::ceil(config.check_growth * static_cast<double>(n)));
  auto next = std::max({grown, config.n_min, n + 1});
  if (n > 0 && elapsed_ns > 0) {
    const double left = static_cast<double>(config.t_max_ns - elapsed_ns) * static_cast<double>(n);
    const double until_cap = std::ceil(std::clamp(left / static_cast<double>(elapsed_ns), 1.0, 1e15));
    next = std::min(next, n + static_cast<std::int64_t>(until_cap));
  }
  return std::max(n + 1, std::min(next, config.n_max));
}

StopDecision decide(std::span<const double> x, std::int64_t elapsed_ns, const StopConfig& config) {
  const auto n = static_cast<std::int64_t>(x.size());
  StopDecision decision;
  judge_minimum(decision, n, elapsed_ns, config);
  judge_quantiles(decision, x, config);
  conclude(decision, n, elapsed_ns, config);
  if (!decision.stop) decision.next_n = next_checkpoint(n, elapsed_ns, config);
  return decision;
}

}  // namespace paceline::stats
