// SPDX-License-Identifier: MIT
#include "cli/estimate.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>

#include "base/display_text.h"
#include "base/units.h"
#include "config/inference/slo.h"
#include "config/vocabulary.h"
#include "host/cpu_choice.h"
#include "host/fma_probe.h"
#include "pass/capacity.h"
#include "pass/train_spec.h"
#include "run/case/case_settings.h"
#include "run/collective/collective_factory.h"
#include "stats/quantile.h"
#include "stats/queueing.h"

namespace paceline::cli {
namespace {

constexpr double kAssumedFlopsPerS = 100e9, kStartS = 2.0;
constexpr double kAssumedSampleS = 0.1;  // of a model whose size only its file tells
// Share of the plain loop's speed that models reach; small ones spend their time between operators.
constexpr double kReached = 0.4, kReachedBySmall = 0.05, kSmallMacs = 1e8;
constexpr double kSaturationS = 1.0, kCountedShare = 0.9;  // server: before the run, and after its warm-up

// A few hundredths of a second show how fast this machine is now.
double ceiling_flops_per_s(int threads) {
  static std::map<int, double> known;
  const auto [it, fresh] = known.try_emplace(threads, kAssumedFlopsPerS / kReached);
  if (!fresh) return it->second;
  double most = 0;
  for (const auto& rate : host::measure_fma_rates(threads, 5, 0.005))
    most = std::max(most, stats::median(rate.flops_per_s));
  if (most > 0) it->second = most;
  return it->second;
}

double flops_per_s(const config::Case& c, double macs) {
  const auto asked = c.settings.has("threads") ? c.settings.integer("threads") : 0;
  const auto allowed = static_cast<std::int64_t>(host::allowed_cpus().size());
  const auto threads = static_cast<int>(asked > 0 ? std::min(asked, allowed) : allowed);
  return ceiling_flops_per_s(threads) * (macs < kSmallMacs ? kReachedBySmall : kReached);
}

double iteration_seconds(const config::Case& c) {
  const auto* model = config::find_model(c.settings.text("model"));
  if (!model) return kAssumedSampleS * static_cast<double>(c.settings.integer("batch"));
  const std::int64_t length = c.settings.has("sequence_length") ? c.settings.integer("sequence_length")
                                                                : model->default_sequence_length;
  const auto macs = static_cast<double>(model->forward_macs(length));
  return 2.0 * macs * static_cast<double>(c.settings.integer("batch")) / flops_per_s(c, macs);
}

double warmup_seconds(const config::Settings& s, double iteration) {
  if (s.has("warmup_iterations")) return static_cast<double>(s.integer("warmup_iterations")) * iteration;
  const double floor = run::warmup_floor_s(s);
  return std::clamp(20 * iteration, floor, std::max(floor, s.number("warmup.max_time_s")));
}

// Rates follow from the assumed speed; the run reports the real length once it has measured saturation.
double server_seconds(const config::Settings& s, double iteration) {
  const double lanes = s.has("concurrency") ? static_cast<double>(s.integer("concurrency")) : 1;
  const double instances = s.has("instances") ? static_cast<double>(s.integer("instances")) : 1;
  const bool fixed_threads = s.integer("threads") > 0 || s.has("threads_per_instance");
  const double saturation = (fixed_threads ? lanes * instances : 1) / iteration;
  if (!s.has("arrival_rate_per_s") && !s.has("server.load"))
    return kSaturationS +
           pass::expected_seconds({saturation, config::parse_slo(s.text("slo")).p,
                                   s.integer("server.max_requests"), s.number("server.t_max_s")});
  const double rate =
      s.has("arrival_rate_per_s") ? s.number("arrival_rate_per_s") : s.number("server.load") * saturation;
  if (s.has("iterations")) return kSaturationS + static_cast<double>(s.integer("iterations")) / rate;
  const auto needed = stats::required_requests(stats::kPpmP99, rate / saturation);
  const double wanted = needed ? static_cast<double>(*needed) / kCountedShare / rate : 0;
  return kSaturationS + std::clamp(wanted, s.number("server.t_min_s"), s.number("server.t_max_s"));
}

// Samples until the interval of a median is as narrow as asked: its half-width is about 2.5 standard
// deviations over the root of their number, and a quiet machine varies by 5 %.
double samples_wanted(const config::Settings& s) {
  constexpr double kWidths = 2.5, kVariation = 0.05;
  const double fewest = static_cast<double>(s.integer("stop.n_min"));
  if (!s.has("stop.rel_halfwidth_p50")) return fewest;
  return std::max(fewest, std::pow(kWidths * kVariation / s.number("stop.rel_halfwidth_p50"), 2));
}

double by_the_rule(const config::Settings& s, double iteration, Times times) {
  const double most = std::max(s.number("stop.t_max_s"), iteration);
  if (times == Times::kUnsteady) return most;
  return std::min(std::max(s.number("stop.t_min_s"), samples_wanted(s) * iteration), most);
}

double measure_seconds(const config::Settings& s, double iteration, Times times) {
  if (traits_of(config::scenario_of(s)).open_loop) return server_seconds(s, iteration);
  if (s.has("iterations")) return static_cast<double>(s.integer("iterations")) * iteration;
  return by_the_rule(s, iteration, times);
}

// The backward pass is twice the work of the forward pass; ranks share the assumed speed.
double step_seconds(const config::Case& c) {
  return 3 * iteration_seconds(c) *
         static_cast<double>(c.settings.integer("training.accumulation_steps") * c.settings.integer("ranks"));
}

// 0: only reading the data tells.
double samples_of_epoch(const config::Settings& s) {
  constexpr double kCifarSamples = 50'000;
  const auto& source = s.text("data.source");
  if (source == "synthetic") return s.number("data.synthetic_samples");
  return source == "cifar10" || source == "cifar100" ? kCifarSamples : 0;
}

double epochs_seconds(const config::Case& c) {
  const auto& s = c.settings;
  if (!s.has("training.epochs")) return 0;
  const double samples = samples_of_epoch(s) * s.number("training.epochs");
  return samples / static_cast<double>(s.integer("batch")) * 3 * iteration_seconds(c);
}

// Untimed steps, and those under the profiler, which slows them down.
double training_profile_seconds(const config::Case& c) {
  if (!c.settings.flag("profiling.enabled")) return 0;
  return kStartS +
         static_cast<double>(pass::ProfileSpec{}.untimed_steps + 2 * c.settings.integer("profiling.steps")) *
             step_seconds(c);
}

double training_pass_seconds(const config::Case& c, Times times) {
  const auto& s = c.settings;
  const double step = step_seconds(c);
  const double measured = s.has("benchmark.measure_steps")
                              ? static_cast<double>(s.integer("benchmark.measure_steps")) * step
                          : s.has("benchmark.measure_seconds") ? s.number("benchmark.measure_seconds")
                                                               : by_the_rule(s, step, times);
  const double steps = static_cast<double>(s.integer("benchmark.warmup_steps")) * step + measured;
  const double epochs = epochs_seconds(c);
  return kStartS + (epochs > 0 ? epochs : steps);  // steps end with the last epoch
}

// The inputs run for the check and for the reference, then in most cases four times more with changed inputs
// or weights (methodology: cost of the check). Cases that share a reference count it each.
double check_seconds(const config::Settings& s, double iteration) {
  constexpr double kFurtherRuns = 4, kMostOfOneS = 10;
  const double batch = static_cast<double>(s.integer("batch"));
  const double batches = std::ceil(static_cast<double>(run::asked_samples(s)) / batch);
  const double once = (s.has("accuracy.samples") ? batches : std::max(2.0, batches)) * iteration;
  if (s.text("accuracy.check") == "off") return once;
  return 2 * once + kFurtherRuns * std::min(once, kMostOfOneS);
}

// Both sides; the engine's tool is assumed to take as long as our process.
double cross_check_seconds(const config::Settings& s, double pass) {
  if (!s.has("cross_check") || !s.flag("cross_check")) return 0;
  return 2 * static_cast<double>(s.integer("cross_check_rounds")) * pass;
}

double profile_seconds(const config::Settings& s, double iteration) {
  if (!s.has("layer_profile") || !s.flag("layer_profile")) return 0;
  return kStartS + static_cast<double>(s.integer("layer_profile_inferences")) * iteration;
}

double training_seconds(const config::Case& c, double repetitions, Times times) {
  return repetitions * training_pass_seconds(c, times) + training_profile_seconds(c);
}

double inference_seconds(const config::Case& c, double repetitions, Times times) {
  const double iteration = iteration_seconds(c);
  const double pass =
      kStartS + warmup_seconds(c.settings, iteration) + measure_seconds(c.settings, iteration, times);
  return kStartS + check_seconds(c.settings, iteration) + repetitions * pass +
         cross_check_seconds(c.settings, pass) + profile_seconds(c.settings, iteration);
}

// Of a single attempt, and of hosts as if each rank were one.
double rounds_seconds(const config::Case& c) {
  constexpr double kBytesPerS = 1e9, kBarrierS = 1e-4;
  const auto& s = c.settings;
  if (!s.has("rounds")) return 0;
  const auto operations = static_cast<double>(s.integer("iterations") + s.integer("warmup_iterations"));
  return static_cast<double>(s.integer("ranks")) * operations *
         (kBarrierS + static_cast<double>(s.integer("round_bytes")) / kBytesPerS);
}

// Each size in both places; those that are large enough last as long as their transfer.
double collective_seconds(const config::Case& c, double repetitions, Times) {
  constexpr double kBytesPerS = 1e9, kPlaces = 2;
  double seconds = kStartS;
  for (const auto bytes : run::swept_sizes(c.settings))
    seconds += kPlaces * (c.settings.number("size_time_s") +
                          2 * c.settings.number("iterations") * static_cast<double>(bytes) / kBytesPerS);
  return repetitions * (seconds + rounds_seconds(c));
}

struct Estimate {
  config::WorkloadKind kind;
  double (*seconds)(const config::Case& c, double repetitions, Times times);
};
constexpr std::array kEstimates{Estimate{config::WorkloadKind::kInference, inference_seconds},
                                Estimate{config::WorkloadKind::kTraining, training_seconds},
                                Estimate{config::WorkloadKind::kCollective, collective_seconds}};

}  // namespace

double estimated_seconds(const config::Case& c, Times times) {
  if (!c.not_available.empty()) return 0;
  const double repetitions =
      c.settings.has("repetitions") ? static_cast<double>(c.settings.integer("repetitions")) : 1.0;
  for (const auto& row : kEstimates)
    if (row.kind == c.kind) return row.seconds(c, repetitions, times);
  return 0;
}

std::optional<double> assumed_sample_s(const config::Case& c) {
  const bool assumed =
      c.not_available.empty() && c.settings.has("model") && !config::find_model(c.settings.text("model"));
  return assumed ? std::optional(kAssumedSampleS) : std::nullopt;
}

}  // namespace paceline::cli
