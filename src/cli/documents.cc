// SPDX-License-Identifier: MIT
#include "cli/documents.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/display_text.h"
#include "base/error.h"
#include "base/file.h"
#include "base/text.h"
#include "cli/interrupts.h"
#include "process/tool_process.h"
#include "report/format_table.h"
#include "result/run_directory.h"

namespace paceline::cli {
namespace fs = std::filesystem;
using report::FormatKind;

fs::path browser_program() {
  for (const char* name : {"chromium", "chromium-browser", "google-chrome", "google-chrome-stable"})
    if (auto found = process::find_program(name); !found.empty()) return found;
  return {};
}

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

namespace {

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
  const auto browser = browser_program();
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

}  // namespace paceline::cli
