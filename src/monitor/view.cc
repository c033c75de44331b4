// SPDX-License-Identifier: MIT
#include "monitor/view.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "answer/text_layout.h"
#include "base/display_text.h"
#include "base/units.h"
#include "monitor/usage.h"

namespace paceline::monitor {
namespace {

constexpr std::size_t kNameWidth = 9;

std::string clock_time(const Snapshot& now) {
  return format_utc(now.utc_ms / 1000).substr(11, 8);
}

std::string per_second(const std::optional<double>& bytes) {
  return bytes ? format_bytes(*bytes) + "/s" : "–";
}

std::string percent(const std::optional<double>& share) {
  return share ? format_percent(*share, 0) : "–";
}

// Eighths of a block, so that ten columns show 80 steps.
std::string bar(const std::optional<double>& share) {
  constexpr int kColumns = 10;
  constexpr const char* kParts[] = {"", "▏", "▎", "▍", "▌", "▋", "▊", "▉"};
  const int eighths = share ? static_cast<int>(std::lround(std::clamp(*share, 0.0, 1.0) * kColumns * 8)) : 0;
  std::string text;
  for (int i = 0; i < eighths / 8; ++i) text += "█";
  text += kParts[eighths % 8];
  return "▕" + answer::pad_right(text, kColumns) + "▏";
}

// The lines of one view, each with a name in its first column.
class Page {
 public:
  explicit Page(std::size_t columns) : columns_(columns) {}

  void heading(const std::string& text) { lines_.push_back({answer::truncate(text, columns_), true}); }
  void row(const std::string& name, const std::string& text, bool strong = false) {
    lines_.push_back(
        {answer::truncate(on_one_line(answer::pad_right(name, kNameWidth) + text), columns_), strong});
  }
  // Parts of equal width side by side, as many as fit.
  void cells(const std::vector<std::string>& parts, std::size_t width) {
    const auto fit = std::max<std::size_t>(1, (columns_ - kNameWidth) / width);
    for (std::size_t i = 0; i < parts.size(); i += fit) {
      std::string line;
      for (std::size_t k = i; k < std::min(parts.size(), i + fit); ++k)
        line += answer::pad_right(parts[k], width);
      row("", line);
    }
  }
  std::vector<ViewLine> take() { return std::move(lines_); }

 private:
  std::size_t columns_;
  std::vector<ViewLine> lines_;
};

void add_all_cpus(const CpuUsage& all, std::ptrdiff_t number, const Snapshot& now, Page& page) {
  std::string text = fmt::format("{} of {}", percent(all.busy), plural(number, "CPU"));
  if (all.steal) text += fmt::format("   stolen {}", format_percent(*all.steal));
  if (const auto load = now.value("paceline_load1")) text += fmt::format("   load {:.2f}", *load);
  page.row("cpu", text);
}

void add_each_cpu(const std::vector<CpuUsage>& each, Page& page) {
  std::vector<std::string> parts;
  for (const auto& cpu : each)
    parts.push_back(fmt::format("{:>3} {} {}", cpu.name, bar(cpu.busy), percent(cpu.busy)));
  constexpr std::size_t kCell = 24;
  page.cells(parts, kCell);
}

void add_memory(const Snapshot& now, Page& page) {
  const auto total = now.value("paceline_memory_total_bytes"),
             free = now.value("paceline_memory_available_bytes");
  if (!total || !free) return;
  std::string text = fmt::format("{} of {} used", format_bytes(*total - *free), format_bytes(*total));
  if (const auto limit = now.value("paceline_memory_limit_bytes"))
    text += fmt::format("   limit of the control group {}", format_bytes(*limit));
  page.row("memory", text);
}

void add_power(const Snapshot& now, const Snapshot& before, Page& page) {
  std::string text;
  const auto* zones = now.find("paceline_rapl_joules_total");
  for (const auto& zone : zones ? zones->points : std::vector<Point>{})
    if (const auto watts = rate(before, now, zones->name, zone.labels))
      text += fmt::format("{}{} {} W", text.empty() ? "" : "   ", label_of(zone, "name"),
                          format_significant(*watts));
  if (!text.empty()) page.row("power", text);
}

void add_traffic(const Snapshot& now, const Snapshot& before, Page& page) {
  for (const auto& link : links(now, before))
    page.row("network",
             fmt::format("{:<10} in {}   out {}", link.name, per_second(link.in), per_second(link.out)));
  for (const auto& disk : disks(now, before))
    page.row("disk", fmt::format("{:<10} read {}   write {}   busy {}", disk.name, per_second(disk.in),
                                 per_second(disk.out), percent(disk.busy)));
}

void add_gpus(const Snapshot& now, Page& page) {
  for (const auto& gpu : gpus(now)) {
    std::string text = gpu.model;
    const auto add = [&](const std::optional<double>& value, const char* unit, double scale) {
      if (value) text += fmt::format("   {} {}", format_significant(*value * scale), unit);
    };
    if (gpu.busy) text += "   busy " + percent(gpu.busy);
    add(gpu.clock_hz, "MHz", 1e-6);
    add(gpu.watts, "W", 1);
    add(gpu.celsius, "°C", 1);
    const bool slowed = !gpu.slowed_by.empty() && gpu.slowed_by != "none";
    if (slowed) text += "   " + gpu.slowed_by;
    if (gpu.memory_bytes) text += "   memory " + format_bytes(*gpu.memory_bytes);
    page.row("gpu " + gpu.name, text, slowed);
  }
}

void add_others(const Snapshot& now, const Snapshot& before, Page& page) {
  add_memory(now, page);
  add_power(now, before, page);
  add_traffic(now, before, page);
  add_gpus(now, page);
}

std::string run_title(const LiveRun& run) {
  return fmt::format("{}  (process {}, {})", run.experiment, run.process_id, run.folder);
}

}  // namespace

std::vector<ViewLine> view(const Snapshot& now, const Snapshot* before, std::size_t columns) {
  Page page(columns);
  const auto& from = before ? *before : now;
  const auto cost = rate(from, now, "paceline_monitor_cpu_seconds_total");
  page.heading(fmt::format("paceline monitor   {}{}", clock_time(now),
                           cost ? fmt::format("   takes {} of a core", format_percent(*cost)) : ""));
  const auto each = cpus(now, from);
  add_all_cpus(all_cpus(now, from), std::ssize(each), now, page);
  add_each_cpu(each, page);
  add_others(now, from, page);
  page.heading(now.runs.empty() ? "no run of paceline goes on here" : plural(std::ssize(now.runs), "run"));
  for (const auto& run : now.runs) {
    page.row("", run_title(run));
    page.row("", in_words(run));
  }
  for (const auto& reason : now.absent) page.row("not read", reason);
  return page.take();
}

std::vector<std::string> machine_lines(const Snapshot& now, const Snapshot* before, std::size_t columns) {
  Page page(columns);
  const auto& from = before ? *before : now;
  add_all_cpus(all_cpus(now, from), std::ssize(cpus(now, from)), now, page);
  add_others(now, from, page);
  std::vector<std::string> lines;
  for (auto& line : page.take()) lines.push_back(std::move(line.text));
  return lines;
}

std::vector<std::string> plain_lines(const Snapshot& now, const Snapshot* before) {
  const auto& from = before ? *before : now;
  std::string line = clock_time(now) + "  cpu " + percent(all_cpus(now, from).busy);
  const auto total = now.value("paceline_memory_total_bytes"),
             free = now.value("paceline_memory_available_bytes");
  if (total && free)
    line += fmt::format("  memory {} of {}", format_bytes(*total - *free), format_bytes(*total));
  for (const auto& link : links(now, from))
    line += fmt::format("  {} in {} out {}", link.name, per_second(link.in), per_second(link.out));
  for (const auto& gpu : gpus(now)) {
    line += fmt::format("  gpu {} {}", gpu.name, percent(gpu.busy));
    if (gpu.watts) line += fmt::format(" {} W", format_significant(*gpu.watts));
    if (!gpu.slowed_by.empty() && gpu.slowed_by != "none") line += " " + gpu.slowed_by;
  }
  std::vector<std::string> lines{on_one_line(line)};
  for (const auto& run : now.runs)
    lines.push_back(on_one_line(fmt::format("{}  {}  {}", clock_time(now), run.experiment, in_words(run))));
  return lines;
}

}  // namespace paceline::monitor
