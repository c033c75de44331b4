// SPDX-License-Identifier: MIT
#include "workload/window/sampler_observer.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <condition_variable>
#include <ctime>
#include <mutex>

#include "base/clock.h"
#include "base/device.h"
#include "base/display_text.h"
#include "base/error.h"
#include "base/thread_cpu.h"
#include "base/units.h"
#include "plugin/registry.h"

namespace paceline::workload {
namespace {

constexpr auto kShortestPeriod = std::chrono::microseconds(100);

double thread_cpu_s() {
  return static_cast<double>(thread_cpu_ns()) * 1e-9;
}

result::SampledSeries& series_of(std::vector<result::SampledSeries>& all, const plugin::Reading& reading) {
  const auto found = std::ranges::find_if(all, [&](const result::SampledSeries& one) {
    return one.device == reading.device && one.metric == reading.metric && one.unit == reading.unit;
  });
  if (found != all.end()) return *found;
  return all.emplace_back(result::SampledSeries{reading.device, reading.metric, reading.unit, {}, {}, {}});
}

}  // namespace

// After the first problem the sampler is left alone.
template <class Work>
void SamplerObserver::guarded(Work work) {
  if (!window_.problem.empty()) return;
  std::string reason = "an exception without a message";
  try {
    return work();
  } catch (const std::exception& e) {
    reason = on_one_line(plain_reason(e));
  } catch (...) {  // NOLINT(bugprone-empty-catch): the reason is set
  }
  window_.problem = window_.readings == 0
                        ? reason
                        : fmt::format("{} (after {})", reason, plural(window_.readings, "reading"));
}

SamplerObserver::SamplerObserver(result::SampledWindow window, const Make& make,
                                 const plugin::SamplerSettings& settings,
                                 std::vector<result::SampledWindow>& into)
    : into_(into), window_(std::move(window)) {
  guarded([&] {
    sampler_ = make();
    period_ = sampler_->open(settings);
    if (period_ < kShortestPeriod)
      throw Error(ErrorCode::kUsage,
                  fmt::format("it asks for a reading every {} ns; the shortest period is {} ns",
                              period_.count(), std::chrono::nanoseconds(kShortestPeriod).count()));
  });
}

void SamplerObserver::open() {
  begin_ns_ = SteadyClock{}.now_ns();
  guarded([&] {
    read(plugin::Moment::kEdge);
    thread_ = std::jthread([this](const std::stop_token& over) { read_until(over); });
  });
}

void SamplerObserver::close() {
  thread_ = {};  // asks it to end, and waits
  guarded([&] { read(plugin::Moment::kEdge); });
  window_.window_s = static_cast<double>(SteadyClock{}.now_ns() - begin_ns_) * 1e-9;
}

void SamplerObserver::read_until(const std::stop_token& over) {
  std::mutex mutex;
  std::condition_variable_any asked;
  std::unique_lock lock(mutex);
  auto next = std::chrono::steady_clock::now() + period_;
  while (window_.problem.empty() &&
         !asked.wait_until(lock, over, next, [&] { return over.stop_requested(); })) {
    guarded([&] { read(plugin::Moment::kWithin); });
    const auto late = std::chrono::steady_clock::now() - next;
    next += period_ * (1 + std::max<std::int64_t>(0, late / period_));  // periods that it missed are left out
  }
  window_.cpu_s = thread_cpu_s();
}

void SamplerObserver::read(plugin::Moment moment) {
  const double time_s = static_cast<double>(SteadyClock{}.now_ns() - begin_ns_) * 1e-9;
  for (const auto& reading : sampler_->read(moment)) add(reading, time_s);
  ++window_.readings;
}

void SamplerObserver::add(const plugin::Reading& reading, double time_s) {
  const auto* number = std::get_if<double>(&reading.value);
  const auto* words = std::get_if<std::string>(&reading.value);
  if ((number && !std::isfinite(*number)) || (words && words->empty())) return;  // no value this time
  auto& series = series_of(window_.series, reading);
  if (number ? !series.words.empty() : !series.numbers.empty())
    throw Error(ErrorCode::kData,
                fmt::format("metric '{}' of '{}' has numbers and words", reading.metric, reading.device));
  series.times_s.push_back(time_s);
  if (number)
    series.numbers.push_back(*number);
  else
    series.words.push_back(*words);
}

void add_samplers(MeasuredWindow& window, const pass::PassSpec& spec, std::size_t ranks_of_host,
                  std::vector<result::SampledWindow>& into) {
  const auto devices = watched_devices(spec, ranks_of_host);
  for (const auto& use : spec.plugins) {
    if (use.role != plugin::Role::kSampler) continue;
    result::SampledWindow named;
    named.sampler = use.name, named.repetition = spec.repetition, named.rank = spec.rank;
    const auto make = [&] {
      if (use.file.empty()) throw Error(ErrorCode::kUnavailable, "no plug-in on this host brings it");
      return plugin::LoadedPlugin(use.file).make<plugin::Role::kSampler>(use.name);
    };
    window.add<SamplerObserver>(std::move(named), make, plugin::SamplerSettings{devices, use.options}, into);
  }
}

std::vector<std::string> watched_devices(const pass::PassSpec& spec, std::size_t ranks_of_host) {
  const bool by_ranks = pass::traits_of(spec.kind).by_ranks;
  const auto asked = spec.settings.options.find("device");
  const auto first = device_named(by_ranks                               ? spec.ranks.device
                                  : asked == spec.settings.options.end() ? "cpu"
                                                                         : asked->second);
  if (first.kind == DeviceKind::kCpu) return {device_name(first)};
  std::vector<std::string> devices;
  const auto& load = spec.inference.load;
  if (load.instances_per_device > 0)
    for (std::int64_t i = 0; i < load.instances; i += load.instances_per_device)
      devices.push_back(device_name({first.kind, load.device_of(i)}));
  if (!devices.empty()) return devices;
  const auto ranks = by_ranks ? std::max<std::size_t>(1, ranks_of_host) : 1;
  for (int i = 0; i < static_cast<int>(ranks); ++i)
    devices.push_back(device_name({first.kind, first.index + i}));
  return devices;
}

}  // namespace paceline::workload
