// SPDX-License-Identifier: MIT
#include "result/stored/sampled_energy.h"

#include <fmt/format.h>

namespace paceline::result {
namespace {

void add(Number& sum, const Number& one) {
  sum = !sum ? sum : one ? Number(*sum + *one) : one;
}

}  // namespace

Energy no_energy(const std::string& reason) {
  return {Number::missing(reason), Number::missing(reason), Number::missing(reason)};
}

Energy energy_in(const SampledWindow& window, const SampledSeries* counter, const ItemsInWindow& items) {
  constexpr double kWholeWindow = 0.95;
  if (!counter || counter->numbers.empty()) return no_energy("the device has no energy counter");
  const double joules = counter->numbers.back() - counter->numbers.front();
  const double seconds = counter->times_s.back() - counter->times_s.front();
  if (joules < 0) return no_energy("the energy counter went back");
  if (joules == 0) return no_energy("the energy counter did not move");
  if (!window.window_s || seconds < kWholeWindow * *window.window_s)
    return no_energy("the energy counter was not read over the whole window");
  return {joules, seconds, items(window)};
}

void add(Energy& sum, const Energy& one) {
  add(sum.joules, one.joules), add(sum.seconds, one.seconds), add(sum.items, one.items);
}

Number energy_per_item(const Energy& all) {
  if (!all.joules) return all.joules;
  if (!all.items) return all.items;
  return *all.items == 0 ? Number::missing("no item was done in the windows")
                         : Number(*all.joules / *all.items);
}

Number energy_above_idle_per_item(const Energy& all, const Number& idle_power_w) {
  const auto each = energy_per_item(all);
  if (!each || !idle_power_w) return each ? idle_power_w : each;
  const double above = *all.joules - *idle_power_w * *all.seconds;
  return above < 0 ? Number::missing("less was drawn than before the run") : Number(above / *all.items);
}

bool is_brief(const Number& energy_window_s) {
  return energy_window_s && *energy_window_s < kLongEnoughForEnergyS;
}

Number of_long_windows(const Number& energy, const Number& energy_window_s) {
  if (!energy || !is_brief(energy_window_s)) return energy;
  return Number::missing(fmt::format("its windows lasted {:.3g} s together, and energy takes {:g} s",
                                     *energy_window_s, kLongEnoughForEnergyS));
}

}  // namespace paceline::result
