// SPDX-License-Identifier: MIT
// Readings of plug-ins' samplers beside the timed samples: those of a window, and their summary.
#pragma once
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "base/maybe.h"

namespace paceline::result {

// The readings of one metric of one device. Either numbers or words has as many elements as there are times.
struct SampledSeries {
  std::string device, metric, unit;
  std::vector<double> times_s;  // since the window began
  std::vector<double> numbers;
  std::vector<std::string> words;
};

// Readings of one sampler over one timed window.
struct SampledWindow {
  std::string sampler;
  std::int64_t repetition = 0;
  std::int64_t rank = 0;      // whose process it ran in
  std::int64_t readings = 0;  // how often everything was read
  Number window_s, cpu_s;     // length of the window; CPU time of the sampler's thread in it
  std::string problem;        // why there are no readings, or none after a moment; empty: all went well
  std::vector<SampledSeries> series;
};

struct WordCount {
  std::string words;
  std::int64_t n = 0;
};

// One metric of one device over all windows of a case; every reading weighs alike.
struct SampledMetric {
  std::int64_t rank = 0;
  std::string device, metric, unit;
  std::int64_t n = 0;
  Number mean, min, max;
  std::vector<WordCount> words;  // instead of the three, in the order in which they came up
};

// One sampler over all windows of a case.
struct Sampled {
  std::string sampler;
  std::int64_t windows = 0, readings = 0;
  Number cpu_share;                   // of a core, by its thread: the largest of all windows
  std::vector<std::string> problems;  // different ones, once each
  std::vector<SampledMetric> metrics;
};

std::vector<Sampled> summarize_sampled(const std::vector<SampledWindow>& windows);

// One row per reading: repetition, rank, sampler, device, metric, unit, time_s, value.
std::string sampled_csv(const std::vector<SampledWindow>& windows);
// Its windows again, with their series only. Throws Error(kData) naming file and line.
std::vector<SampledWindow> read_sampled_csv(const std::filesystem::path& path);

// Without the readings at both ends of a window, where no inference runs, unless there are no others.
template <class Reading>
std::span<const Reading> while_it_ran(const std::vector<Reading>& readings) {
  const std::span<const Reading> all(readings);
  return all.size() > 2 ? all.subspan(1, all.size() - 2) : all;
}

}  // namespace paceline::result
