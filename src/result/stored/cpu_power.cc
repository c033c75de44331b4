// SPDX-License-Identifier: MIT
#include "result/stored/cpu_power.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "base/text.h"

namespace paceline::result {
namespace {

bool is_counter_of(std::string_view part, const SampledSeries& one) {
  return one.metric == "energy" && one.device.starts_with(part) && !one.numbers.empty();
}

// The counters of a part as one. Without readings where one of them was not read every time.
SampledSeries summed(const SampledWindow& window, std::string_view part) {
  SampledSeries sum;
  for (const auto& one : window.series) {
    if (!is_counter_of(part, one)) continue;
    if (sum.times_s.empty()) sum.times_s = one.times_s, sum.numbers.assign(one.numbers.size(), 0);
    if (one.times_s != sum.times_s) return {};
    for (std::size_t i = 0; i < one.numbers.size(); ++i) sum.numbers[i] += one.numbers[i];
  }
  return sum;
}

// The largest mean between two readings. The last one may follow the one before too soon.
Number largest_power(const SampledSeries& counter) {
  const auto& at = counter.times_s;
  Number largest = Number::missing("it was read too seldom");
  for (std::size_t i = 1; i < at.size(); ++i) {
    const double seconds = at[i] - at[i - 1];
    if (seconds <= 0 || seconds < (at[1] - at[0]) / 2) continue;
    const double watts = (counter.numbers[i] - counter.numbers[i - 1]) / seconds;
    largest = std::max(largest.value().value_or(watts), watts);
  }
  return largest;
}

Number mean_power(const Energy& energy) {
  if (!energy.joules) return energy.joules;
  return *energy.seconds > 0 ? Number(*energy.joules / *energy.seconds)
                             : Number::missing("it was not read over any time");
}

Energy energy_over(const std::vector<const SampledWindow*>& windows, std::string_view part,
                   const ItemsInWindow& items) {
  Energy all;
  for (const auto* window : windows) {
    const auto counter = summed(*window, part);
    add(all, counter.numbers.empty() ? no_energy("the energy counter has gaps")
                                     : energy_in(*window, &counter, items));
  }
  return all;
}

// "packages 0+1 of the whole machine, not this process alone"
std::string scope_of(const std::vector<const SampledWindow*>& windows, std::string_view part) {
  constexpr std::string_view kPackage = "package-";
  std::vector<std::string> numbers;
  for (const auto* window : windows)
    for (const auto& one : window->series) {
      const auto at = is_counter_of(part, one) ? one.device.find(kPackage) : std::string::npos;
      if (at == std::string::npos) continue;
      const auto number = one.device.substr(at + kPackage.size());
      if (std::ranges::find(numbers, number) == numbers.end()) numbers.push_back(number);
    }
  return fmt::format("{}package{} {} of the whole machine, not this process alone",
                     part == kCpuMemory ? "memory of " : "", numbers.size() == 1 ? "" : "s",
                     join(numbers, "+"));
}

CpuPower power_of(std::int64_t rank, std::string_view part, const std::vector<const SampledWindow*>& windows,
                  const ItemsInWindow& items, const std::vector<SampledWindow>& idle) {
  CpuPower power;
  power.rank = rank, power.part = part, power.scope = scope_of(windows, part);
  const auto energy = energy_over(windows, part, items);
  power.energy_j = energy.joules, power.energy_window_s = energy.seconds;
  power.power_mean_w = mean_power(energy);
  for (const auto* window : windows) {
    const auto most = largest_power(summed(*window, part));
    if (!power.power_max_w || (most && *most > *power.power_max_w)) power.power_max_w = most;
  }
  power.idle_power_w = Number::missing(kNoIdleReading);
  std::vector<const SampledWindow*> before;
  for (const auto& window : idle)
    if (rank == 0 && window.sampler == kCpuSampler) before.push_back(&window);
  if (!before.empty()) power.idle_power_w = mean_power(energy_over(before, part, items));
  power.energy_per_item_j = energy_per_item(energy);
  power.energy_above_idle_per_item_j = energy_above_idle_per_item(energy, power.idle_power_w);
  return power;
}

// Stands for a host whose packages were not read.
CpuPower unread(std::int64_t rank, const std::vector<const SampledWindow*>& windows) {
  const auto problem = std::ranges::find_if(windows, [](const auto* one) { return !one->problem.empty(); });
  const auto none = Number::missing(problem == windows.end() ? "no package was read" : (*problem)->problem);
  return {rank, std::string(kCpuPackages), "", none, none, none, none, none, none, none};
}

bool has_counter(const std::vector<const SampledWindow*>& windows, std::string_view part) {
  return std::ranges::any_of(windows, [&](const auto* window) {
    return std::ranges::any_of(window->series, [&](const auto& one) { return is_counter_of(part, one); });
  });
}

}  // namespace

std::vector<CpuPower> summarize_cpu_power(const std::vector<SampledWindow>& windows,
                                          const ItemsInWindow& items,
                                          const std::vector<SampledWindow>& idle) {
  std::map<std::int64_t, std::vector<const SampledWindow*>> by_rank;
  for (const auto& window : windows)
    if (window.sampler == kCpuSampler) by_rank[window.rank].push_back(&window);
  std::vector<CpuPower> all;
  for (const auto& [rank, of_rank] : by_rank) {
    if (!has_counter(of_rank, kCpuPackages)) all.push_back(unread(rank, of_rank));
    for (const auto part : {kCpuPackages, kCpuMemory})
      if (has_counter(of_rank, part)) all.push_back(power_of(rank, part, of_rank, items, idle));
  }
  return all;
}

}  // namespace paceline::result
