// SPDX-License-Identifier: MIT
// Reads GPUs through the sampler that also runs beside measurements.
#include <fmt/format.h>
#include <stdlib.h>
#include <time.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <set>

#include "base/clock.h"
#include "base/display_text.h"
#include "base/error.h"
#include "host/machine/nvml.h"
#include "monitor/source.h"
#include "plugin/registry.h"

namespace paceline::monitor {
namespace {

constexpr const char* kSampler = "nvml";
// The sampler's metric for what it does not read, and how it begins for a GPU that is lost.
constexpr std::string_view kLeftOut = "left_out", kEverything = "everything: ";

// How a sampler's units are written in names of metrics, which have base units.
struct Unit {
  std::string_view unit, suffix;
  double factor = 1;
};
constexpr std::array kUnits{Unit{"MHz", "_hertz", 1e6},
                            Unit{"W", "_watts"},
                            Unit{"J", "_joules"},
                            Unit{"°C", "_celsius"},
                            Unit{"%", "_ratio", 0.01},
                            Unit{"B", "_bytes"},
                            Unit{"B/s", "_bytes_per_second"},
                            Unit{"1", ""}};
// Counters since the driver was loaded.
constexpr std::array<std::string_view, 3> kCounters{"energy", "nvlink_tx", "nvlink_rx"};

plugin::Manifest manifest_of_sampler(const std::filesystem::path& plugin_dir) {
  for (const auto& one : plugin::read_manifests(plugin_dir)) {
    const auto names = plugin::names_of(one.capabilities, plugin::Role::kSampler);
    if (std::ranges::find(names, kSampler) != names.end()) return one;
  }
  throw Error(ErrorCode::kUnavailable, "the plug-in nvml is not installed");
}

// The sampler on all GPUs, and what is said of them.
struct OpenSampler {
  std::unique_ptr<plugin::Sampler> sampler;
  std::map<std::string, Labels> labels;  // by the device's name: "cuda:0"
  int slow_every = 1;                    // readings after which it reads again what changes slowly
};

OpenSampler open_sampler(const std::filesystem::path& plugin_dir, std::chrono::milliseconds period) {
  const auto driver = host::read_nvidia_driver();
  if (driver.gpus.empty())
    throw Error(ErrorCode::kUnavailable, driver.version ? "the driver lists none" : driver.version.reason());
  const auto manifest = manifest_of_sampler(plugin_dir);
  plugin::SamplerSettings settings;
  OpenSampler open;
  for (std::size_t i = 0; i < driver.gpus.size(); ++i) {
    settings.devices.push_back(fmt::format("cuda:{}", i));
    open.labels[settings.devices.back()] = {{"gpu", std::to_string(i)},
                                            {"UUID", driver.gpus[i].uuid.value().value_or("")},
                                            {"modelName", driver.gpus[i].name.value().value_or("")}};
  }
  for (const auto& option : manifest.options)
    if (option.sampler == kSampler)
      settings.options[option.name.substr(option.section().size() + 1)] = option.fallback;
  constexpr std::int64_t kShortestMs = 20, kLongestMs = 10'000, kSlowMs = 1000;  // of the sampler
  const auto period_ms = std::clamp<std::int64_t>(period.count(), kShortestMs, kLongestMs);
  settings.options["period_ms"] = std::to_string(period_ms);
  settings.options["driver_order"] = "true";  // whatever this process may compute on
  open.slow_every = static_cast<int>(std::max<std::int64_t>(1, kSlowMs / period_ms));
  open.sampler = plugin::LoadedPlugin(manifest.file).make<plugin::Role::kSampler>(kSampler);
  open.sampler->open(settings);
  return open;
}

// Opened at the first reading, and again after a while where GPUs do not answer: the driver counts them again
// after a reset.
class GpuSource : public Source {
 public:
  GpuSource(std::filesystem::path plugin_dir, std::chrono::milliseconds period)
      : plugin_dir_(std::move(plugin_dir)), period_(period) {
    open();
  }

  void read(Snapshot& into) override {
    const bool answers = open_.sampler && lost_.empty();
    if (!answers && SteadyClock{}.now_ns() - opened_ns_ >= kReopenNs) open();
    if (open_.sampler) try_to_read();
    if (!open_.sampler) return into.absent.push_back("GPUs: " + why_);
    const auto longest = kRarest * open_.slow_every;
    std::erase_if(last_, [&](const auto& one) { return readings_ - one.second.number > longest; });
    for (const auto& [key, kept] : last_) add(kept.reading, into);
  }

 private:
  // Some are read every few times alone; until then the last reading stands. One that ended is dropped.
  static constexpr int kRarest = 10;  // slow readings to the next one of what costs most
  static constexpr std::int64_t kReopenNs = 30'000'000'000;
  struct Kept {
    plugin::Reading reading;
    int number = 0;
  };

  void open() {
    opened_ns_ = SteadyClock{}.now_ns();
    forget();
    try {
      open_ = open_sampler(plugin_dir_, period_);
    } catch (const std::exception& e) {
      why_ = on_one_line(plain_reason(e));
    }
  }

  void try_to_read() {
    try {
      ++readings_;
      for (auto& reading : open_.sampler->read(plugin::Moment::kWithin)) keep(std::move(reading));
    } catch (const std::exception& e) {
      why_ = on_one_line(plain_reason(e));
      forget();
    }
  }

  void forget() {
    open_ = {};
    last_.clear(), lost_.clear();
  }

  // A reading without a value ends what was read before; a GPU that is lost ends all of its readings.
  void keep(plugin::Reading reading) {
    const auto* number = std::get_if<double>(&reading.value);
    const auto* words = std::get_if<std::string>(&reading.value);
    const auto key = reading.device + "/" + reading.metric;
    if (reading.metric == kLeftOut) lost_.erase(reading.device);
    if ((number && !std::isfinite(*number)) || (words && words->empty())) {
      last_.erase(key);
      return;
    }
    if (reading.metric == kLeftOut && words->starts_with(kEverything)) {
      lost_.insert(reading.device);
      std::erase_if(last_, [&](const auto& one) { return one.second.reading.device == reading.device; });
    }
    last_[key] = {std::move(reading), readings_};
  }

  void add(const plugin::Reading& reading, Snapshot& into) const {
    const auto labels = open_.labels.find(reading.device);
    if (labels == open_.labels.end()) return;
    if (const auto* words = std::get_if<std::string>(&reading.value))
      return add_words(reading, *words, labels->second, into);
    const auto unit = std::ranges::find(kUnits, reading.unit, &Unit::unit);
    if (unit == kUnits.end()) return;
    const bool counter = std::ranges::find(kCounters, reading.metric) != kCounters.end();
    into.add(fmt::format("paceline_gpu_{}{}{}", reading.metric, unit->suffix, counter ? "_total" : ""),
             fmt::format("Of a GPU, by its driver: {}.", reading.metric), labels->second,
             std::get<double>(reading.value) * unit->factor);
  }

  static void add_words(const plugin::Reading& reading, const std::string& words, Labels labels,
                        Snapshot& into) {
    if (reading.metric == kLeftOut)
      return into.absent.push_back(
          fmt::format("GPU {}: {}", label_of({labels, 0}, "gpu"),
                      words.substr(words.starts_with(kEverything) ? kEverything.size() : 0)));
    labels.emplace_back("state", words);
    into.add("paceline_gpu_" + reading.metric, fmt::format("1 for the state of {}.", reading.metric),
             std::move(labels), 1);
  }

  std::filesystem::path plugin_dir_;
  std::chrono::milliseconds period_;
  OpenSampler open_;
  std::int64_t opened_ns_ = 0;
  std::map<std::string, Kept> last_;
  std::set<std::string> lost_;  // devices
  int readings_ = 0;
  std::string why_;  // there is no sampler
};

}  // namespace

std::unique_ptr<Source> gpu_source(const std::filesystem::path& plugin_dir,
                                   std::chrono::milliseconds period) {
  return std::make_unique<GpuSource>(plugin_dir, period);
}

Sources all_sources(const host::SystemFiles& files, const std::filesystem::path& plugin_dir,
                    std::chrono::milliseconds period) {
  auto all = machine_sources(files);
  all.push_back(gpu_source(plugin_dir, period));
  all.push_back(run_source(files));
  all.push_back(own_cost_source());
  return all;
}

Snapshot take_snapshot(const Sources& sources) {
  Snapshot taken;
  taken.utc_ms = std::chrono::duration_cast<std::chrono::milliseconds>(
                     std::chrono::system_clock::now().time_since_epoch())
                     .count();
  taken.steady_ns = SteadyClock{}.now_ns();
  for (const auto& source : sources) source->read(taken);
  return taken;
}

}  // namespace paceline::monitor
