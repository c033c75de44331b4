// SPDX-License-Identifier: MIT
#include "result/figures/device_figures.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/step_clock.h"
#include "stats/quantile.h"

namespace paceline::result {
namespace {

// Iterations per block, a power of two, from blocks in their order. A block lasts 50 ms or more, so that from
// one start to the next hardly anything is between them. 0: one sample does not show it.
double iterations_per_block(const std::vector<const Sample*>& samples) {
  std::vector<double> ratios;
  for (std::size_t i = 0; i + 1 < samples.size(); ++i)
    ratios.push_back(static_cast<double>(samples[i + 1]->start_ns - samples[i]->start_ns) /
                     static_cast<double>(samples[i]->host_ns));
  return ratios.empty() ? 0 : std::exp2(std::round(std::log2(stats::median(ratios))));
}

// Fills in the state of a rank's GPU.
DeviceState state_of_rank(const RankFigures& rank) {
  const auto none = Number::missing("ranks read the clock of their GPU and no more; use the sampler nvml");
  const auto no_count = Count::missing(none.reason());
  DeviceState state;
  state.rank = rank.rank;
  state.device = fmt::format("GPU of rank {}", rank.rank);
  state.of_rank = true;
  state.sm_clock_mean_mhz = rank.evidence.device_mhz;
  state.sm_clock_min_mhz = state.sm_clock_cv = state.memory_clock_mean_mhz = none;
  state.power_mean_w = state.power_max_w = state.temperature_max_c = state.utilization_mean = none;
  state.energy_j = state.energy_window_s = state.energy_per_item_j = none;
  state.memory_used_max_bytes = state.other_processes = no_count;
  state.slowdown_read = true;
  state.slowdowns = rank.evidence.device_slowdowns;
  return state;
}

// Share of steps timed by marks on the device: all but waits for data and for communication.
Number device_share_of_steps(const CaseResult& one) {
  const auto clock = one.effective_settings.find(kStepTimes);
  if (clock == one.effective_settings.end() || clock->second != kOnDeviceClock)
    return Number::missing("the steps were timed by the host's clock");
  double sum = 0;
  for (const auto part : kStepParts) {
    const Number& share = one.training()->shares[part];
    if (!traits_of(part).works) continue;
    if (!share) return share;
    sum += *share;
  }
  return std::min(1.0, sum);
}

}  // namespace

Number items_in_window(const CaseResult& one, const std::vector<Sample>& samples, double items_per_iteration,
                       const SampledWindow& window) {
  if (traits_of(one.benchmark.kind).sweeps) return Number::missing("the window holds a sweep of sizes");
  std::vector<const Sample*> done;
  std::uint32_t flags = 0;
  for (const auto& sample : samples)
    if (sample.repetition == window.repetition && !sample.lost())
      done.push_back(&sample), flags |= sample.flags;
  const double block = (flags & kSamplePipelined) != 0 ? iterations_per_block(done) : 1;
  if (block > 0 && (flags & kSampleBatched) == 0)
    return static_cast<double>(done.size()) * block * items_per_iteration;
  const auto& rate = one.throughput.per_s.value;
  if (!rate || !window.window_s) return rate ? window.window_s : rate;
  return *rate * *window.window_s;
}

std::vector<DeviceState> states_of_ranks(const Training* training) {
  std::vector<DeviceState> states;
  if (!training) return states;
  for (const auto& rank : training->ranks)
    if (rank.evidence.device_mhz || !rank.evidence.device_slowdowns.empty())
      states.push_back(state_of_rank(rank));
  return states;
}

std::vector<DeviceState> device_states(const CaseResult& one) {
  return one.devices.empty() ? states_of_ranks(one.training()) : one.devices;
}

Number power_cap_share(const DeviceState& state) {
  if (!state.slowdown_read) return Number::missing("the device has no such reading");
  const auto capped = std::ranges::find(state.slowdowns, kPowerCap, &DeviceSlowdown::reason);
  return capped == state.slowdowns.end() ? 0.0 : capped->share;
}

Number slowdown_share(const DeviceState& state) {
  if (!state.slowdown_read) return Number::missing("the device has no such reading");
  double sum = 0;
  for (const auto& one : state.slowdowns)
    if (one.reason != kPowerCap) sum += one.share;
  return std::min(1.0, sum);
}

Number memory_used_mb(const DeviceState& state) {
  const auto& used = state.memory_used_max_bytes;
  return used ? Number(static_cast<double>(*used) * 1e-6) : Number::missing(used.reason());
}

Number summed_over_devices(const CaseResult& one, Number (*get)(const DeviceState&), DeviceSum sum) {
  const auto states = device_states(one);
  if (states.empty()) return Number::missing("no sampler read a device");
  Number all = get(states.front());
  for (std::size_t at = 1; at < states.size() && all; ++at) {
    const Number figure = get(states[at]);
    if (!figure) return figure;
    all = sum == DeviceSum::kSmallest  ? std::min(*all, *figure)
          : sum == DeviceSum::kLargest ? std::max(*all, *figure)
                                       : *all + *figure;
  }
  return all;
}

Number device_share(const CaseResult& one) {
  if (one.training()) return device_share_of_steps(one);
  const auto& device = one.device_p50_ns.value;
  const auto& wall = one.back_to_back_ns.value ? one.back_to_back_ns.value : one.headline.p50_ns.value;
  if (one.load()) return Number::missing("the latency of a request includes waiting");
  if (!device) return device;
  if (!wall || *wall <= 0) return wall ? Number::missing("not_measured") : wall;
  return std::min(1.0, *device / *wall);
}

Number launch_share(const CaseResult& one) {
  const auto io = one.effective_settings.find("io");
  if (io != one.effective_settings.end() && io->second.find("pageable") != std::string::npos)
    return Number::missing("copies of pageable memory wait inside enqueue");
  const auto part = std::ranges::find(one.device_parts, kEnqueue, &DevicePart::name);
  if (part == one.device_parts.end()) return Number::missing("starting an inference was not timed");
  const auto& device = one.device_p50_ns.value;
  if (!part->p50_ns || !device || *device <= 0) return device ? part->p50_ns : device;
  return *part->p50_ns / *device;
}

Number kernel_share(const CaseResult& one) {
  constexpr std::int64_t kFewestReadings = 30;  // ten per second
  Number least = Number::missing("no sampler read how busy a device is");
  for (const auto& state : one.devices) {
    const auto& busy = state.utilization_mean;
    if (!one.training() || !busy || state.readings < kFewestReadings) continue;
    if (!least || *busy < *least) least = busy;
  }
  return least;
}

bool device_decides(const CaseResult& one) {
  const auto share = device_share(one), launch = launch_share(one), busy = kernel_share(one);
  return share && *share >= kDeviceDecides && !(launch && *launch >= kHostDecides) &&
         !(busy && *busy < kDeviceDecides);
}

}  // namespace paceline::result
