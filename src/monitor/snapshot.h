// SPDX-License-Identifier: MIT
// Readings of a machine at one moment: families of values, in the words of Prometheus, and runs.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/json.h"
#include "monitor/live_run.h"

namespace paceline::monitor {

using Labels = std::vector<std::pair<std::string, std::string>>;

struct Point {
  Labels labels;
  double value = 0;
};

// Names end in their base unit: paceline_memory_available_bytes; those of counters in _total.
struct Family {
  std::string name, help;
  std::vector<Point> points;
  [[nodiscard]] bool is_counter() const { return name.ends_with("_total"); }
};

struct Snapshot {
  std::int64_t utc_ms = 0;
  std::int64_t steady_ns = 0;  // for rates: no one sets this clock
  std::vector<Family> families;
  std::vector<LiveRun> runs;
  std::vector<std::string> absent;  // what cannot be read here, and why: "GPUs: no driver"

  // Adds a point; the first of a family brings its help.
  void add(std::string_view name, std::string_view help, Labels labels, double value);
  [[nodiscard]] const Family* find(std::string_view name) const;
  // The point that has these labels, among others; nothing where there is none.
  [[nodiscard]] std::optional<double> value(std::string_view name, const Labels& labels = {}) const;
};

// The label's value of a point; empty: it has no such label.
std::string label_of(const Point& point, std::string_view name);

// Per second between two snapshots; nothing where a counter is missing, was reset, or no time has passed.
std::optional<double> rate(const Snapshot& before, const Snapshot& now, std::string_view counter,
                           const Labels& labels = {});

// {"utc_ms": …, "families": {NAME: [{"labels": {…}, "value": …}]}, "runs": […], "absent": […]}; help is left
// out. Reading throws Error(kData) for another shape.
nlohmann::json to_json(const Snapshot& snapshot);
Snapshot snapshot_of(const nlohmann::json& json);

}  // namespace paceline::monitor
