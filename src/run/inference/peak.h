// SPDX-License-Identifier: MIT
// Keeps the most that this machine was seen to compute, per precision and number of threads.
#pragma once
#include <filesystem>
#include <functional>
#include <map>
#include <set>
#include <string>

#include "base/maybe.h"
#include "result/stored/device_peaks.h"

namespace paceline::run {

struct Peak {
  Number flops_per_s;
  Number spread;       // of the best probe's repetitions: their interquartile range over the median
  std::string source;  // which probe, how many threads, when
  // Rate that the probes measured, if a case has raised the figure.
  Number probe_flops_per_s = Number::missing("no case has raised it");
  std::string operation = result::kProduct;  // of the best probe, or kConvolution, kCopy
  std::string measured_utc{};                // of the best probe; empty: not known
};

using result::arithmetic_of;

// In place of a precision: copies within memory, whose peak is bytes read and written per second.
inline constexpr const char* kCopies = "copies";

// The higher one. One without a number never replaces another that has one, and the first reason stays.
Peak better_of(Peak best, const Peak& other);

// Runs the probes of one precision, or of copies, on this number of threads.
using MeasurePeak = std::function<Peak(const std::string& precision, int threads)>;

// Peaks seen on this machine, by CPU model, precision, thread count and library versions; kept in a file of
// the user's cache folder (methodology: model FLOPs and peaks). No peak is measured twice by one table.
class PeakTable {
 public:
  PeakTable(std::string machine, MeasurePeak measure);
  // Without a number where none is known.
  [[nodiscard]] Peak known(const std::string& precision, int threads) const;
  // Measures it unless it is known.
  Peak get(const std::string& precision, int threads);
  // For a case that reached more FLOP/s than is known to be possible: measures again unless that was
  // done; the largest stays, be it the case's, unless that is more than twice the probe's. In words what was
  // raised; empty: nothing.
  std::string raise(const std::string& precision, int threads, double flops_per_s, const std::string& label);

  static std::filesystem::path file();

 private:
  [[nodiscard]] std::string key(const std::string& precision, int threads) const;
  void measure(const std::string& key, const std::string& precision, int threads);
  void keep(const std::string& key, const Peak& peak, bool for_later_runs = true);

  std::string machine_;
  MeasurePeak measure_;
  std::map<std::string, Peak> known_;
  std::set<std::string> measured_;
};

}  // namespace paceline::run
