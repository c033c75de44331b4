// SPDX-License-Identifier: MIT
#include "workload/inference/server_run.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/display_text.h"
#include "base/error.h"
#include "base/units.h"
#include "measure/arrivals.h"
#include "result/figures/summarize_load.h"
#include "stats/quantile.h"
#include "stats/queueing.h"

namespace paceline::workload {
namespace {

constexpr double kWarmupShare = 0.1, kWarmupSeconds = 5, kLongestWarmupShare = 0.5;
constexpr double kSloConfidence = 0.99;

// The warm-up part: the first tenth or the first five seconds, whichever is longer, but at most half.
std::int64_t warmup_of(double requests, double rate_per_s) {
  const double wanted = std::max(kWarmupShare * requests, kWarmupSeconds * rate_per_s);
  return static_cast<std::int64_t>(std::min(wanted, kLongestWarmupShare * requests));
}

// The total number of requests that leaves `needed` after the warm-up part.
double with_warmup(double needed, double rate_per_s) {
  return std::max(needed / (1 - kWarmupShare), needed + kWarmupSeconds * rate_per_s) + 1;
}

// 0: none.
double asked_rate(const pass::LoadSpec& load, double saturation_per_s) {
  return load.rate_per_s > 0 ? load.rate_per_s : load.share * saturation_per_s;
}

// Times of a schedule in ns, replayed `speed` times as fast.
std::vector<std::int64_t> first_times(const ArrivalFile& file, std::size_t count, double speed) {
  std::vector<std::int64_t> times;
  times.reserve(count);
  for (std::size_t i = 0; i < count; ++i) times.push_back(std::llround(file.seconds[i] / speed * 1e9));
  return times;
}

// The warm-up part of times that need not come evenly.
std::int64_t warmup_of(const std::vector<std::int64_t>& times_ns) {
  const auto requests = static_cast<double>(times_ns.size());
  const auto early =
      std::ranges::lower_bound(times_ns, std::llround(kWarmupSeconds * 1e9)) - times_ns.begin();
  const double wanted = std::max(kWarmupShare * requests, static_cast<double>(early));
  return static_cast<std::int64_t>(std::min(wanted, kLongestWarmupShare * requests));
}

result::Sample to_sample(const pass::LoadSpec& load, const measure::Request& request) {
  result::Sample s;
  s.start_ns = request.scheduled_ns;
  if (request.issue_delay_ns >= 0) s.issue_delay_ns = request.issue_delay_ns;
  if (request.instance >= 0) s.instance = request.instance;
  if (request.state == measure::RequestState::kTimedOut) s.flags |= result::kSampleTimedOut;
  if (request.state == measure::RequestState::kUnfinished) s.flags |= result::kSampleUnfinished;
  if (request.state == measure::RequestState::kFailed) s.flags |= result::kSampleFailed;
  if (request.state != measure::RequestState::kDone) return s;
  s.host_ns = request.latency_ns();
  s.queue_ns = request.start_ns - request.scheduled_ns;
  s.compute_ns = request.end_ns - request.start_ns - request.input_ns - request.output_ns;
  if (request.input_ns > 0) s.input_ns = request.input_ns;
  if (request.output_ns > 0) s.output_ns = request.output_ns;
  if (load.max_batch > 1) s.batch = request.batch;
  return s;
}

}  // namespace

ServerPlan plan_server(const pass::PassSpec& spec, double saturation_per_s) {
  const pass::LoadSpec& load = spec.inference.load;
  ServerPlan plan;
  plan.saturation_per_s = saturation_per_s;
  plan.rate_per_s = asked_rate(load, saturation_per_s);
  plan.needed = stats::required_requests(stats::kPpmP99, plan.load());
  const double wanted = plan.needed ? with_warmup(static_cast<double>(*plan.needed), plan.rate_per_s) : 0;
  const double n = std::clamp(wanted, plan.rate_per_s * load.t_min_s, plan.rate_per_s * load.t_max_s);
  plan.requests = spec.loop.iterations.value_or(std::max<std::int64_t>(1, std::llround(n)));
  plan.warmup_requests = warmup_of(static_cast<double>(plan.requests), plan.rate_per_s);
  return plan;
}

ServerPlan plan_replay(const pass::PassSpec& spec, double saturation_per_s, const ArrivalFile& file) {
  const pass::LoadSpec& load = spec.inference.load;
  const double asked = asked_rate(load, saturation_per_s);
  auto count = static_cast<std::int64_t>(due_within(file, load.t_max_s, asked));
  if (spec.loop.iterations) count = std::min(count, *spec.loop.iterations);
  // The part that is replayed has the rate that was asked for, however the whole file is spread.
  const double length_s = count < 1 ? 0 : file.seconds[static_cast<std::size_t>(count) - 1];
  const double speed = asked > 0 && length_s > 0 ? asked * length_s / static_cast<double>(count - 1) : 1;
  ServerPlan plan;
  plan.saturation_per_s = saturation_per_s;
  plan.recorded_ns = first_times(file, static_cast<std::size_t>(count), speed);
  if (count < 2 || plan.recorded_ns.back() <= 0)
    throw Error(ErrorCode::kUsage,
                fmt::format("the first {} of {} times of the schedule '{}' have no rate: they come at once; "
                            "raise server.t_max_s ({} s), the rate or iterations",
                            count, file.seconds.size(), shown_path(load.schedule_file), load.t_max_s));
  plan.rate_per_s = static_cast<double>(count - 1) * 1e9 / static_cast<double>(plan.recorded_ns.back());
  plan.needed = stats::required_requests(stats::kPpmP99, plan.load());
  plan.requests = count;
  plan.warmup_requests = warmup_of(plan.recorded_ns);
  plan.replay = {load.schedule_file, file.format, file.unit, std::ssize(file.seconds), count, speed};
  return plan;
}

ServerPlan plan_trial(double saturation_per_s, double rate_per_s, std::int64_t counted) {
  ServerPlan plan;
  plan.saturation_per_s = saturation_per_s;
  plan.rate_per_s = rate_per_s;
  plan.needed = stats::required_requests(stats::kPpmP99, plan.load());
  plan.requests = std::llround(static_cast<double>(counted) / (1 - kWarmupShare)) + 1;
  plan.warmup_requests = plan.requests - counted;
  return plan;
}

std::string in_words(const ServerPlan& plan) {
  const std::int64_t counted = plan.requests - plan.warmup_requests;
  std::string text = plan.replay ? result::replay_in_words(*plan.replay) + "; " : std::string();
  text += fmt::format("{} requests at {}/s, load {:.2f} of {}/s, take {}", plan.requests,
                      format_rate(plan.rate_per_s), plan.load(), format_rate(plan.saturation_per_s),
                      format_time_left(plan.seconds()));
  if (!plan.needed) return text + "; no length is enough for p99 at or above saturation";
  if (counted >= *plan.needed)
    return text + fmt::format("; enough for p99{} ({} after warm-up)",
                              plan.replay ? " of Poisson arrivals" : "", *plan.needed);
  return text + fmt::format("; p99 needs {} more requests ({} more)", *plan.needed - counted,
                            format_time_left(static_cast<double>(*plan.needed - counted) / plan.rate_per_s));
}

measure::OpenLoopConfig open_loop_config(const pass::PassSpec& spec, const ServerPlan& plan,
                                         std::uint64_t trial) {
  const auto& load = spec.inference.load;
  measure::OpenLoopConfig config;
  const auto kind = load.arrival == measure::kConstantName ? measure::ArrivalKind::kConstant
                                                           : measure::ArrivalKind::kPoisson;
  const auto seed = load.arrival_seed + static_cast<std::uint64_t>(spec.repetition) + (trial << 32U);
  config.arrivals_ns =
      plan.replay ? plan.recorded_ns : measure::schedule_arrivals(kind, plan.rate_per_s, plan.requests, seed);
  config.timeout_ns = std::llround(load.timeout_s * 1e9);
  config.batching = {load.max_batch, std::llround(load.batch_timeout_s * 1e9)};
  return config;
}

std::vector<result::Sample> server_samples(const pass::PassSpec& spec, const ServerPlan& plan,
                                           const std::vector<measure::Request>& requests) {
  std::vector<result::Sample> samples;
  samples.reserve(requests.size());
  for (const auto& request : requests) {
    if (request.state == measure::RequestState::kWaiting) continue;
    result::Sample s = to_sample(spec.inference.load, request);
    s.repetition = static_cast<std::int32_t>(spec.repetition);
    s.rank = static_cast<std::int32_t>(spec.rank);
    s.index = static_cast<std::int64_t>(samples.size());
    if (s.index < plan.warmup_requests) s.flags |= result::kSampleWarmup;
    samples.push_back(s);
  }
  return samples;
}

result::Load server_load(const pass::PassSpec& spec, const ServerPlan& plan) {
  const auto& asked = spec.inference.load;
  result::Load load;
  load.concurrency = asked.lanes();
  load.saturation_per_s = plan.saturation_per_s;
  load.offered_per_s = plan.rate_per_s;
  load.max_batch = asked.max_batch;
  load.batch_timeout_ns = asked.batch_timeout_s * 1e9;
  load.arrival = plan.replay ? std::string(measure::kRecordedName) : asked.arrival;
  load.replay = plan.replay;
  load.arrival_seed = static_cast<std::int64_t>(asked.arrival_seed) + spec.repetition;
  if (asked.slo_p > 0) {
    result::SloResult slo;
    slo.p = asked.slo_p;
    slo.bound_ns = asked.slo_bound_s * 1e9;
    slo.confidence = kSloConfidence;
    load.slo = {slo};
  }
  return load;
}

double median_service_ns(const std::vector<result::Sample>& samples) {
  std::vector<double> x;
  for (const auto& s : samples)
    if (s.compute_ns) x.push_back(static_cast<double>(*s.compute_ns));
  return x.empty() ? 0 : stats::median(x);
}

}  // namespace paceline::workload
