// SPDX-License-Identifier: MIT
#include "monitor/usage.h"

#include <algorithm>

namespace paceline::monitor {
namespace {

constexpr const char *kCpuSeconds = "paceline_cpu_seconds_total", *kCpuLabel = "cpu", *kStolen = "steal";

// The values of a label of a family, each once, in their order.
std::vector<std::string> names_of(const Snapshot& now, const char* family, const char* label) {
  std::vector<std::string> names;
  const auto* found = now.find(family);
  for (const auto& point : found ? found->points : std::vector<Point>{})
    if (const auto name = label_of(point, label); std::ranges::find(names, name) == names.end())
      names.push_back(name);
  return names;
}

struct CpuSeconds {
  double all = 0, idle = 0, steal = 0;
};

// Sums one CPU, or all for an empty name.
CpuSeconds seconds_of(const Snapshot& snapshot, const std::string& cpu) {
  CpuSeconds sum;
  const auto* family = snapshot.find(kCpuSeconds);
  for (const auto& point : family ? family->points : std::vector<Point>{}) {
    if (!cpu.empty() && label_of(point, kCpuLabel) != cpu) continue;
    const auto mode = label_of(point, "mode");
    sum.all += point.value;
    if (mode == "idle" || mode == "iowait") sum.idle += point.value;
    if (mode == kStolen) sum.steal += point.value;
  }
  return sum;
}

CpuUsage usage_of(const Snapshot& now, const Snapshot& before, const std::string& cpu) {
  const auto from = seconds_of(before, cpu), to = seconds_of(now, cpu);
  const double all = to.all - from.all;
  if (all <= 0) return {cpu, {}, {}};
  const double idle = to.idle - from.idle, steal = to.steal - from.steal;
  return {cpu, std::clamp((all - idle - steal) / all, 0.0, 1.0), std::clamp(steal / all, 0.0, 1.0)};
}

}  // namespace

std::vector<CpuUsage> cpus(const Snapshot& now, const Snapshot& before) {
  std::vector<CpuUsage> all;
  for (const auto& cpu : names_of(now, kCpuSeconds, "cpu")) all.push_back(usage_of(now, before, cpu));
  return all;
}

CpuUsage all_cpus(const Snapshot& now, const Snapshot& before) {
  return usage_of(now, before, "");
}

std::vector<Traffic> links(const Snapshot& now, const Snapshot& before) {
  constexpr const char *kIn = "paceline_network_receive_bytes_total",
                       *kOut = "paceline_network_transmit_bytes_total";
  std::vector<Traffic> all;
  for (const auto& name : names_of(now, kIn, "device")) {
    const Labels labels{{"device", name}};
    if (name == "lo" || (now.value(kIn, labels) == 0.0 && now.value(kOut, labels) == 0.0)) continue;
    all.push_back({name, rate(before, now, kIn, labels), rate(before, now, kOut, labels), {}});
  }
  return all;
}

std::vector<Traffic> disks(const Snapshot& now, const Snapshot& before) {
  constexpr const char *kRead = "paceline_disk_read_bytes_total",
                       *kWritten = "paceline_disk_written_bytes_total";
  std::vector<Traffic> all;
  for (const auto& name : names_of(now, kRead, "device")) {
    const Labels labels{{"device", name}};
    if (now.value(kRead, labels) == 0.0 && now.value(kWritten, labels) == 0.0) continue;
    all.push_back({name, rate(before, now, kRead, labels), rate(before, now, kWritten, labels),
                   rate(before, now, "paceline_disk_io_time_seconds_total", labels)});
  }
  return all;
}

std::vector<GpuUsage> gpus(const Snapshot& now) {
  std::vector<GpuUsage> all;
  for (const auto& name : names_of(now, "paceline_gpu_sm_clock_hertz", "gpu")) {
    const Labels labels{{"gpu", name}};
    const auto at = [&](const char* family) { return now.value(family, labels); };
    GpuUsage gpu{name,
                 "",
                 at("paceline_gpu_utilization_ratio"),
                 at("paceline_gpu_sm_clock_hertz"),
                 at("paceline_gpu_power_watts"),
                 at("paceline_gpu_temperature_celsius"),
                 at("paceline_gpu_memory_used_bytes"),
                 ""};
    for (const auto& point : now.find("paceline_gpu_sm_clock_hertz")->points)
      if (label_of(point, "gpu") == name) gpu.model = label_of(point, "modelName");
    const auto* slowdown = now.find("paceline_gpu_slowdown");
    for (const auto& point : slowdown ? slowdown->points : std::vector<Point>{})
      if (label_of(point, "gpu") == name) gpu.slowed_by = label_of(point, "state");
    all.push_back(std::move(gpu));
  }
  return all;
}

}  // namespace paceline::monitor
