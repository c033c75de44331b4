// SPDX-License-Identifier: MIT
#include "monitor/course.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <limits>
#include <optional>

#include "base/units.h"
#include "monitor/usage.h"

namespace paceline::monitor {
namespace {

using report::MachineCourse;

constexpr double kNotRead = std::numeric_limits<double>::quiet_NaN();
constexpr double kMega = 1e-6, kGiga = 1e-9, kPercent = 100;

class Drawn {
 public:
  void begin(double time_s) {
    for (auto& curve : course_.curves) curve.values.push_back(kNotRead);
    course_.times_s.push_back(time_s);
  }
  void add(const char* chart, const std::string& name, const char* unit, std::optional<double> value,
           double scale = 1) {
    auto found = std::ranges::find(course_.curves, name, &report::MachineCurve::name);
    if (found == course_.curves.end())
      found = course_.curves.insert(
          found, {chart, name, unit, std::vector<double>(course_.times_s.size(), kNotRead)});
    if (value) found->values.back() = *value * scale;
  }
  MachineCourse& course() { return course_; }

 private:
  MachineCourse course_;
};

void add_machine(const Snapshot& now, const Snapshot& before, Drawn& to) {
  const auto cpu = all_cpus(now, before);
  to.add("CPUs", "CPUs busy", "%", cpu.busy, kPercent);
  to.add("CPUs", "CPUs stolen", "%", cpu.steal, kPercent);
  const auto total = now.value("paceline_memory_total_bytes"),
             free = now.value("paceline_memory_available_bytes");
  if (total && free) to.add("Memory", "memory used", "GB", *total - *free, kGiga);
  const auto* zones = now.find("paceline_rapl_joules_total");
  for (const auto& zone : zones ? zones->points : std::vector<Point>{})
    to.add("Power", fmt::format("{} ({})", label_of(zone, "name"), label_of(zone, "zone")), "W",
           rate(before, now, zones->name, zone.labels));
}

void add_devices(const Snapshot& now, const Snapshot& before, Drawn& to) {
  for (const auto& gpu : gpus(now)) {
    const auto name = "GPU " + gpu.name;
    to.add("GPUs busy", name + " busy", "%", gpu.busy, kPercent);
    to.add("Clock of the GPUs", name + " clock", "MHz", gpu.clock_hz, kMega);
    to.add("Power", name + " power", "W", gpu.watts);
    to.add("Temperature of the GPUs", name + " temperature", "°C", gpu.celsius);
    to.add("Memory of the GPUs", name + " memory", "GB", gpu.memory_bytes, kGiga);
  }
  for (const auto& link : links(now, before)) {
    to.add("Network", link.name + " in", "MB/s", link.in, kMega);
    to.add("Network", link.name + " out", "MB/s", link.out, kMega);
  }
  for (const auto& disk : disks(now, before)) {
    to.add("Disks", disk.name + " read", "MB/s", disk.in, kMega);
    to.add("Disks", disk.name + " write", "MB/s", disk.out, kMega);
  }
}

// A pass that is seen in two readings one after the other was under way between them.
void add_passes(const Snapshot& now, const std::string& run_id, double time_s, double before_s,
                std::vector<report::MachinePass>& passes) {
  for (const auto& run : now.runs) {
    const bool own = run_id.empty() || std::filesystem::path(run.folder).filename() == run_id;
    if (run.number == 0 || !own) continue;
    const auto label = fmt::format("{} {}/{}", run.label, run.number, run.of);
    const auto known = std::ranges::find_if(
        passes, [&](const auto& pass) { return pass.label == label && pass.to_s >= before_s; });
    if (known == passes.end())
      passes.push_back({time_s, time_s, label});
    else
      known->to_s = time_s;
  }
}

void add_recording(const Recording& recording, const std::string& run_id, std::int64_t begin_ms, Drawn& to) {
  const auto& all = recording.snapshots;
  auto& course = to.course();
  for (std::size_t i = 0; i < all.size(); ++i) {
    const auto& now = all[i];
    const auto& before = all[i == 0 ? 0 : i - 1];
    // The steady clock gives times, the wall clock only the first reading's place.
    const double time_s = static_cast<double>(all.front().utc_ms - begin_ms) * 1e-3 +
                          static_cast<double>(now.steady_ns - all.front().steady_ns) * 1e-9;
    const double before_s = course.times_s.empty() ? time_s : course.times_s.back();
    if (i == 0 && !course.times_s.empty()) to.begin((before_s + time_s) / 2);  // nothing was read in between
    to.begin(time_s);
    ++course.readings;
    add_machine(now, before, to);
    add_devices(now, before, to);
    add_passes(now, run_id, time_s, i == 0 ? time_s : before_s, course.passes);
  }
  if (!all.empty()) course.absent = all.back().absent;
}

}  // namespace

MachineCourse course_of(const std::vector<Recording>& recordings, const std::string& run_id) {
  Drawn drawn;
  const auto first = std::ranges::find_if(recordings, [](const auto& one) { return !one.snapshots.empty(); });
  if (first == recordings.end()) return {};
  const auto begin_ms = first->snapshots.front().utc_ms;
  drawn.course().host = first->host;
  drawn.course().begun_utc = format_utc(begin_ms / 1000);
  for (const auto& one : recordings) {
    add_recording(one, run_id, begin_ms, drawn);
    if (one.cut) drawn.course().warnings.emplace_back("The recording ends within a line, which is left out.");
  }
  return std::move(drawn.course());
}

}  // namespace paceline::monitor
