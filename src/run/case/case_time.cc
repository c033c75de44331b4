// SPDX-License-Identifier: MIT
#include "run/case/case_time.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "config/vocabulary.h"
#include "host/cpu_choice.h"
#include "host/fma_probe.h"

namespace paceline::run {
namespace {

constexpr double kAssumedFlopsPerS = 100e9;
constexpr double kAssumedSampleS = 0.1;  // of a model whose size only its file tells
// Share of the plain loop's speed that models reach; small ones spend their time between operators.
constexpr double kReached = 0.4, kReachedBySmall = 0.05, kSmallMacs = 1e8;

// A few hundredths of a second show how fast this machine is: the best of them, since others slow some down.
double ceiling_flops_per_s(int threads) {
  static std::map<int, double> known;
  const auto [it, fresh] = known.try_emplace(threads, kAssumedFlopsPerS / kReached);
  if (!fresh) return it->second;
  double most = 0;
  for (const auto& rate : host::measure_fma_rates(threads, 5, 0.005))
    for (const double flops : rate.flops_per_s) most = std::max(most, flops);
  if (most > 0) it->second = most;
  return it->second;
}

double flops_per_s(const config::Case& c, double macs) {
  const auto asked = c.settings.has("threads") ? c.settings.integer("threads") : 0;
  const auto allowed = static_cast<std::int64_t>(host::allowed_cpus().size());
  const auto threads = static_cast<int>(asked > 0 ? std::min(asked, allowed) : allowed);
  return ceiling_flops_per_s(threads) * (macs < kSmallMacs ? kReachedBySmall : kReached);
}

// Samples until the interval of a median is as narrow as asked: its half-width is about 2.5 standard
// deviations over the root of their number, and a quiet machine varies by 5 %.
double samples_wanted(const config::Settings& s) {
  constexpr double kWidths = 2.5, kVariation = 0.05;
  const double fewest = static_cast<double>(s.integer("stop.n_min"));
  if (!s.has("stop.rel_halfwidth_p50")) return fewest;
  return std::max(fewest, std::pow(kWidths * kVariation / s.number("stop.rel_halfwidth_p50"), 2));
}

}  // namespace

double iteration_seconds(const config::Case& c) {
  const auto* model = config::find_model(c.settings.text("model"));
  if (!model) return kAssumedSampleS * static_cast<double>(c.settings.integer("batch"));
  const std::int64_t length = c.settings.has("sequence_length") ? c.settings.integer("sequence_length")
                                                                : model->default_sequence_length;
  const auto macs = static_cast<double>(model->forward_macs(length));
  return 2.0 * macs * static_cast<double>(c.settings.integer("batch")) / flops_per_s(c, macs);
}

std::optional<double> assumed_sample_s(const config::Case& c) {
  const bool assumed =
      c.not_available.empty() && c.settings.has("model") && !config::find_model(c.settings.text("model"));
  return assumed ? std::optional(kAssumedSampleS) : std::nullopt;
}

double seconds_by_the_rule(const config::Settings& s, double iteration, Times times) {
  const double most = std::max(s.number("stop.t_max_s"), iteration);
  if (times == Times::kUnsteady) return most;
  return std::min(std::max(s.number("stop.t_min_s"), samples_wanted(s) * iteration), most);
}

}  // namespace paceline::run
