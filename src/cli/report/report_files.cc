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

// The first of these programs that is installed; empty: none.
template <std::size_t N>
fs::path first_program(const std::array<const char*, N>& names) {
  for (const char* name : names)
    if (auto found = process::find_program(name); !found.empty()) return found;
  return {};
}

constexpr std::array kBrowsers{"chromium", "chromium-browser", "google-chrome", "google-chrome-stable"};

void run_program(const std::vector<std::string>& argv, const ScratchFolder& scratch) {
  const fs::path log = scratch.path() / "log.txt";
  const std::map<std::string, std::string> env{{"HOME", scratch.path().string()}};
  const auto problem = process::run_tool({argv, env, log, {}, 300}, InterruptGuard::flag());
  if (problem.empty()) return;
  const std::string said = file_tail(log, 2000);
  const auto lines = split(trim(said), '\n');
  throw Error(ErrorCode::kIo,
              fmt::format("{} failed: {}; its last words: {}", argv.front(), problem, lines.back()));
}

// The page and pictures are ours and load nothing, so that a browser's sandbox, which containers lack, is not
// needed.
std::vector<std::string> browser_call(const fs::path& browser, const ScratchFolder& scratch,
                                      const std::vector<std::string>& more) {
  std::vector<std::string> argv{browser.string(),
                                "--headless",
                                "--no-sandbox",
                                "--disable-gpu",
                                "--disable-dev-shm-usage",
                                "--hide-scrollbars",
                                "--no-first-run",
                                "--user-data-dir=" + (scratch.path() / "profile").string()};
  argv.insert(argv.end(), more.begin(), more.end());
  return argv;
}

// Checks the file that a program claims to have written; it may have written nothing and ended well.
std::string made_file(const fs::path& file, const fs::path& program) {
  if (!fs::exists(file) || fs::file_size(file) == 0)
    throw Error(ErrorCode::kIo, fmt::format("{} wrote nothing", program.string()));
  return read_file(file);
}

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
  const auto converter = first_program(std::array{"rsvg-convert"}), browser = first_program(kBrowsers);
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

// A name without an extension, or with a slash at its end, is a folder, which is created if missing.
fs::path file_in(const fs::path& output, std::string_view file) {
  const bool folder_name = output.filename().empty() || !output.has_extension();
  if (!fs::is_directory(output) && (fs::exists(output) || !folder_name)) return output;
  make_directories(output);
  return output / file;
}

// Whether only reports have such a name. Stored figures are CSV, JSON and text as well.
bool is_report(const fs::path& file) {
  constexpr std::array kEndings{".html", ".md", ".pdf"};
  return std::ranges::find(kEndings, file.extension()) != kEndings.end() ||
         std::ranges::find(report::formats(), file.filename(), &report::Format::file) !=
             report::formats().end();
}

void write_document(const Document& d, const std::string& bytes) {
  if (d.output == kStandardOutput) return d.console.result(bytes);
  const fs::path file = d.output.empty() ? d.folder / d.file : file_in(d.output, d.file);
  if (result::is_in_run(file) && !is_report(fs::canonical(file)))
    throw Error(
        ErrorCode::kUsage,
        fmt::format("--output would overwrite '{}', which may be a part of the stored run; name another file",
                    shown_path(file.string())));
  std::error_code unmade;  // writing says what is in the way
  if (file.has_parent_path()) fs::create_directories(file.parent_path(), unmade);
  file == d.output ? write_file_atomic(file, bytes) : replace_file(file, bytes);
  d.console.say(fmt::format("report  {}", file.string()));
}

std::string on_paper(const Document& d) {
  const auto browser = first_program(kBrowsers);
  if (browser.empty())
    throw Error(
        ErrorCode::kUnavailable,
        "--format pdf needs an installed Chromium or Chrome (Debian: chromium), which prints the page; "
        "--format html and svg need none");
  const auto scratch = ScratchFolder::below_temp("paceline-pdf");
  const fs::path page = scratch.path() / "page.html", paper = scratch.path() / "page.pdf";
  write_file_atomic(page, d.text);
  run_program(
      browser_call(browser, scratch,
                   {"--no-pdf-header-footer", "--print-to-pdf=" + paper.string(), "file://" + page.string()}),
      scratch);
  return made_file(paper, browser);
}

}  // namespace

void deliver(const Document& d) {
  if (d.kind == FormatKind::kText && d.output.empty()) return d.console.result(d.text);
  write_document(d, d.kind == FormatKind::kPaper ? on_paper(d) : d.text);
}

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
