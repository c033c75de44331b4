// SPDX-License-Identifier: MIT
#include "result/stored/device_state.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <span>
#include <utility>

#include "base/device.h"
#include "base/text.h"
#include "stats/spread.h"

namespace paceline::result {
namespace {

// The windows of one device, in their order.
using Windows = std::vector<const SampledWindow*>;

const SampledSeries* series_of(const SampledWindow& window, const std::string& device,
                               std::string_view metric) {
  const auto found = std::ranges::find_if(window.series, [&](const SampledSeries& one) {
    return one.device == device && one.metric == metric && !(one.numbers.empty() && one.words.empty());
  });
  return found == window.series.end() ? nullptr : &*found;
}

enum class Ends : std::uint8_t { kCounted, kLeftOut };

std::vector<double> readings_of(const Windows& windows, const std::string& device, std::string_view metric,
                                Ends ends) {
  std::vector<double> all;
  for (const auto* window : windows)
    if (const auto* series = series_of(*window, device, metric)) {
      const std::span<const double> some =
          ends == Ends::kCounted ? std::span(series->numbers) : while_it_ran(series->numbers);
      all.insert(all.end(), some.begin(), some.end());
    }
  return all;
}

constexpr const char* kNoReading = "the device has no such reading";

Number mean_of(const std::vector<double>& x) {
  return x.empty() ? Number::missing(kNoReading) : Number(stats::mean(x));
}
Number largest_of(const std::vector<double>& x) {
  return x.empty() ? Number::missing(kNoReading) : Number(*std::ranges::max_element(x));
}
Number smallest_of(const std::vector<double>& x) {
  return x.empty() ? Number::missing(kNoReading) : Number(*std::ranges::min_element(x));
}
Count largest_count(const std::vector<double>& x) {
  const auto largest = largest_of(x);
  return largest ? Count(std::llround(*largest)) : Count::missing(largest.reason());
}

Number variation_of(const std::vector<double>& x) {
  const auto mean = mean_of(x);
  if (!mean) return mean;
  const auto deviation = stats::stddev(x);
  if (!deviation || *mean <= 0) return Number::missing("fewer than two readings");
  return *deviation / *mean;
}

// Share of the readings that name each reason; one reading may name several.
std::vector<DeviceSlowdown> slowdowns_of(const Windows& windows, const std::string& device) {
  std::vector<DeviceSlowdown> found;
  double readings = 0;
  for (const auto* window : windows) {
    const auto* series = series_of(*window, device, "slowdown");
    if (!series) continue;
    const auto all = while_it_ran(series->words);
    readings += static_cast<double>(all.size());
    for (const auto& words : all)
      for (const auto& part : split(words, ',')) {
        const std::string reason(trim(part));
        if (reason.empty() || reason == "none") continue;
        const auto at = std::ranges::find(found, reason, &DeviceSlowdown::reason);
        ++(at == found.end() ? found.emplace_back(DeviceSlowdown{reason, 0}) : *at).share;
      }
  }
  for (auto& one : found) one.share /= readings;
  std::ranges::stable_sort(found, std::greater(), &DeviceSlowdown::share);
  return found;
}

Energy energy_of(const Windows& windows, const std::string& device, const ItemsInWindow& items) {
  Energy all;
  for (const auto* window : windows)
    add(all, energy_in(*window, series_of(*window, device, "energy"), items));
  return all;
}

void fill_energy(DeviceState& state, const Energy& all) {
  state.energy_j = all.joules, state.energy_window_s = all.seconds;
  if (all.joules) state.energy_scope = kBoardEnergy;
  state.energy_per_item_j = energy_per_item(all);
  state.energy_above_idle_per_item_j = energy_above_idle_per_item(all, state.idle_power_w);
}

// Reads rank 0's host, where the windows are.
Number idle_power_of(const DeviceState& state, const std::vector<SampledWindow>& idle) {
  std::vector<double> watts;
  std::string problem = kNoIdleReading;
  for (const auto& window : idle) {
    if (state.rank != 0 || window.sampler != kDeviceSampler) continue;
    if (!window.problem.empty()) problem = window.problem;
    if (const auto* power = series_of(window, state.device, "power"))
      watts.insert(watts.end(), power->numbers.begin(), power->numbers.end());
  }
  return watts.empty() ? Number::missing(problem) : Number(stats::mean(watts));
}

DeviceState state_of(std::int64_t rank, const std::string& device, const Windows& windows,
                     const ItemsInWindow& items, const std::vector<SampledWindow>& idle) {
  const auto readings = [&](std::string_view metric, Ends ends = Ends::kCounted) {
    return readings_of(windows, device, metric, ends);
  };
  DeviceState state;
  state.rank = rank, state.device = device;
  const auto clock = readings("sm_clock", Ends::kLeftOut), power = readings("power", Ends::kLeftOut);
  state.readings = static_cast<std::int64_t>(clock.size());
  state.sm_clock_mean_mhz = mean_of(clock), state.sm_clock_min_mhz = smallest_of(clock);
  state.sm_clock_cv = variation_of(clock);
  state.memory_clock_mean_mhz = mean_of(readings("memory_clock"));
  state.power_mean_w = mean_of(power), state.power_max_w = largest_of(power);
  state.temperature_max_c = largest_of(readings("temperature"));
  const auto busy = mean_of(readings("utilization", Ends::kLeftOut));
  state.utilization_mean = busy ? Number(*busy / 100) : busy;
  state.memory_used_max_bytes = largest_count(readings("memory_used"));
  state.other_processes = largest_count(readings("other_processes"));
  state.slowdown_read = std::ranges::any_of(
      windows, [&](const auto* window) { return series_of(*window, device, "slowdown") != nullptr; });
  state.slowdowns = slowdowns_of(windows, device);
  state.idle_power_w = idle_power_of(state, idle);
  fill_energy(state, energy_of(windows, device, items));
  return state;
}

}  // namespace

std::vector<DeviceState> summarize_devices(const std::vector<SampledWindow>& windows,
                                           const ItemsInWindow& items,
                                           const std::vector<SampledWindow>& idle) {
  std::map<std::pair<std::int64_t, std::string>, Windows> by_device;
  for (const auto& window : windows) {
    if (window.sampler != kDeviceSampler) continue;
    for (const auto& series : window.series) {
      if (is_cpu(series.device)) continue;
      auto& of_device = by_device[{window.rank, series.device}];
      if (of_device.empty() || of_device.back() != &window) of_device.push_back(&window);
    }
  }
  std::vector<DeviceState> states;
  for (const auto& [key, of_device] : by_device)
    states.push_back(state_of(key.first, key.second, of_device, items, idle));
  return states;
}

}  // namespace paceline::result
