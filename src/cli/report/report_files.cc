// SPDX-License-Identifier: MIT
#include "cli/report/report_files.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/display_text.h"
#include "base/error.h"
#include "base/file.h"
#include "base/scratch_folder.h"
#include "base/text.h"
#include "base/units.h"
#include "cli/interrupts.h"
#include "process/tool_process.h"
#include "report/chart_files.h"
#include "result/run_directory.h"

namespace paceline::cli {
namespace fs = std::filesystem;
using report::FormatKind;
namespace {

void write_charts(const Delivery& d, const std::vector<std::pair<std::string, std::string>>& files,
                  const report::ChartFiles& charts) {
  const fs::path folder = d.output.empty() ? d.folder / d.format.file : d.output;
  make_directories(folder);
  for (const auto& [name, content] : files) replace_file(folder / name, content);
  const auto& study = report::find_format("study");
  replace_file(folder / study.file, study.render(d.runs, d.options));
  for (const auto& why : charts.left_out) d.console.say("left out  " + why);
  d.console.say(fmt::format("{}  {}", plural(std::ssize(files), "chart"), folder.string()));
}

void deliver_drawings(const Delivery& d) {
  const auto charts = report::chart_files(d.runs, d.options);
  std::vector<std::pair<std::string, std::string>> files;
  for (const auto& chart : charts.files) files.emplace_back(chart.name + ".svg", chart.svg);
  write_charts(d, files, charts);
}

// Chromium with a profile folder leaves 87 rows of a window blank that is lower than this (seen in 156).
constexpr int kLowestWindow = 160;

// The numbers behind width=" and height=" of its first tag.
std::string window_size(const std::string& svg) {
  const auto number = [&](std::string_view name) {
    const auto from = svg.find(name) + name.size();
    return static_cast<int>(parse_double(svg.substr(from, svg.find('"', from) - from)).value_or(0) + 0.999);
  };
  return fmt::format("--window-size={},{}", number(" width=\""),
                     std::max(kLowestWindow, number(" height=\"")));
}

void deliver_images(const Delivery& d) {
  const auto converter = process::find_program("rsvg-convert"), browser = browser_program();
  if (converter.empty() && browser.empty())
    throw Error(ErrorCode::kUnavailable,
                "--format png needs rsvg-convert (Debian: librsvg2-bin) or Chromium (Debian: chromium); "
                "--format svg needs neither");
  const auto charts = report::chart_files(d.runs, d.options);
  const auto scratch = ScratchFolder::below_temp("paceline-png");
  const fs::path from = scratch.path() / "chart.svg", to = scratch.path() / "chart.png";
  std::vector<std::pair<std::string, std::string>> files;
  for (const auto& chart : charts.files) {
    fs::remove(to);
    write_file_atomic(from, chart.svg);
    run_program(converter.empty() ? browser_call(browser, scratch,
                                                 {"--force-device-scale-factor=2", window_size(chart.svg),
                                                  "--screenshot=" + to.string(), "file://" + from.string()})
                                  : std::vector<std::string>{converter.string(), "--zoom=2",
                                                             "--output=" + to.string(), from.string()},
                scratch);
    files.emplace_back(chart.name + ".png", made_file(to, converter.empty() ? browser : converter));
  }
  write_charts(d, files, charts);
}

}  // namespace

void check_standard_output(std::span<const report::Format* const> formats) {
  for (const auto* format : formats)
    if (format->kind != FormatKind::kText && format->kind != FormatKind::kPage)
      throw Error(
          ErrorCode::kUsage,
          fmt::format("--output {}: {} is not one text, which standard output needs; "
                      "name a {}",
                      kStandardOutput, format->name, format->kind == FormatKind::kPaper ? "file" : "folder"));
  if (formats.size() > 1)
    throw Error(ErrorCode::kUsage,
                fmt::format("--output {}: standard output takes one format, and --format has "
                            "{}; name a folder",
                            kStandardOutput, formats.size()));
}

void deliver(const Delivery& d) {
  if (d.format.kind == FormatKind::kDrawings) return deliver_drawings(d);
  if (d.format.kind == FormatKind::kImages) return deliver_images(d);
  deliver(Document{d.format.kind, d.format.name, d.format.file, d.format.render(d.runs, d.options), d.output,
                   d.folder, d.console});
}

}  // namespace paceline::cli
