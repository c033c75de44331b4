// SPDX-License-Identifier: MIT
#include "run/inference/inference_time.h"

#include <algorithm>
#include <cmath>

#include "config/inference/arrivals.h"
#include "config/inference/slo.h"
#include "pass/capacity.h"
#include "run/case/case_settings.h"
#include "run/inference/recorded_schedule.h"
#include "stats/queueing.h"

namespace paceline::run {
namespace {

constexpr double kFewestWarmup = 5;  // inferences before the limits are looked at; timed ones: stop.n_min
constexpr double kSaturationS = 1.0, kCountedShare = 0.9;  // server: before the run, and after its warm-up

double warmup_seconds(const config::Settings& s, double iteration) {
  const double period = iteration + gap_s(s);
  if (s.has("warmup_iterations")) return static_cast<double>(s.integer("warmup_iterations")) * period;
  const double floor = warmup_floor_s(s);
  const double usual = std::clamp(20 * period, floor, std::max(floor, s.number("warmup.max_time_s")));
  return std::max(usual, kFewestWarmup * gap_s(s));
}

// A recorded schedule takes its own time, or that of the rate asked for.
double replay_seconds(const config::Settings& s, double saturation) {
  const double longest = s.number("server.t_max_s");
  const auto schedule = recorded_schedule(s);
  if (!schedule) return longest;
  const double rate = s.has("arrival_rate_per_s") ? s.number("arrival_rate_per_s")
                      : s.has("server.load")      ? s.number("server.load") * saturation
                                                  : schedule->rate_per_s;
  const double times = s.has("iterations")
                           ? std::min(schedule->times, static_cast<double>(s.integer("iterations")))
                           : schedule->times;
  return std::min(longest, (times - 1) / rate);
}

// Rates follow from the assumed speed; the run reports the real length once it has measured saturation.
double server_seconds(const config::Settings& s, double iteration) {
  const double lanes = s.has("concurrency") ? static_cast<double>(s.integer("concurrency")) : 1;
  const double instances = std::max(1.0, static_cast<double>(instances_of(s)));
  const bool fixed_threads = s.integer("threads") > 0 || s.has("threads_per_instance");
  const double saturation = (fixed_threads ? lanes * instances : 1) / iteration;
  if (!config::schedule_file(s).empty()) return kSaturationS + replay_seconds(s, saturation);
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

double measure_seconds(const config::Settings& s, double iteration, Times times) {
  if (traits_of(config::scenario_of(s)).open_loop) return server_seconds(s, iteration);
  const double period = iteration + gap_s(s);
  if (s.has("iterations")) return static_cast<double>(s.integer("iterations")) * period;
  return std::max(seconds_by_the_rule(s, period, times),
                  static_cast<double>(s.integer("stop.n_min")) * gap_s(s));
}

// How many of `batches` run within `patience`, at least those that hold `inputs`.
double batches_within(double patience, double inputs, double batch, double batches, double iteration) {
  return std::min(batches, std::max(std::ceil(inputs / batch), patience / iteration));
}

// The inputs run for the check and for the reference, generated ones for a short time; then some run with
// moved inputs and with a rounded layer (accuracy: cost). Cases that share a reference count it each.
double check_seconds(const config::Settings& s, double iteration) {
  constexpr double kFurtherRuns = 2, kPatienceS = 0.7, kLeast = 8, kFurtherS = 0.5, kLeastFurther = 4;
  const double batch = static_cast<double>(s.integer("batch"));
  double batches = std::ceil(static_cast<double>(asked_samples(s)) / batch);
  const bool written = s.has("accuracy.samples");
  if (!written) batches = std::max(2.0, batches);
  if (!written && s.texts("load_inputs").empty() && !s.has("image_dir"))
    batches = std::max(2.0, batches_within(kPatienceS, kLeast, batch, batches, iteration));
  if (s.text("accuracy.check") == "off") return batches * iteration;
  const double further = batches_within(kFurtherS, kLeastFurther, batch, batches, iteration);
  return (2 * batches + kFurtherRuns * further) * iteration;
}

// Both sides; the engine's tool is assumed to take as long as our process.
double cross_check_seconds(const config::Settings& s, double pass) {
  if (!s.has("cross_check") || !s.flag("cross_check")) return 0;
  return 2 * static_cast<double>(s.integer("cross_check_rounds")) * pass;
}

double profile_seconds(const config::Settings& s, double start, double iteration) {
  if (!s.has("layer_profile") || !s.flag("layer_profile")) return 0;
  return start + static_cast<double>(s.integer("layer_profile_inferences")) * iteration;
}

}  // namespace

double inference_seconds(const config::Case& c, const Pace& pace) {
  const double start = worker_start_s(pace);
  const double iteration = stored_iteration_s(pace).value_or(forward_seconds(c, pace.end));
  const double pass =
      start + warmup_seconds(c.settings, iteration) + measure_seconds(c.settings, iteration, pace.times);
  return seconds_beside(pace.end) + start + check_seconds(c.settings, iteration) +
         c.settings.number("repetitions") * pass + cross_check_seconds(c.settings, pass) +
         profile_seconds(c.settings, start, iteration);
}

}  // namespace paceline::run
