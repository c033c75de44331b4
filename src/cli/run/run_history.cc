// SPDX-License-Identifier: MIT
#include "cli/run/run_history.h"

#include <fmt/format.h>

#include "answer/render/terminal.h"
#include "base/display_text.h"
#include "base/error.h"
#include "history/index.h"
#include "history/since_last.h"

namespace paceline::cli {
namespace fs = std::filesystem;
namespace {

bool is_in_experiment_below(const fs::path& run, const fs::path& results) {
  std::error_code error;
  const auto above = fs::canonical(run, error).parent_path().parent_path();
  return !error && !results.empty() && fs::equivalent(above, results, error) && !error;
}

std::string lines_since_last(history::Index& index, const result::RunResult& run, const fs::path& folder,
                             const answer::TerminalOptions& options) {
  if (!index.writable())
    throw Error(ErrorCode::kIo, fmt::format("{} is not writable", shown_path(index.folder().string())));
  const auto entry = history::entry_of({fs::canonical(folder), run});
  index.add(entry);
  std::string lines;
  for (const auto& line : history::since_last_lines(index, entry))
    lines += answer::wrapped("history: " + line, options, 0);
  return lines.empty() ? "" : "\n" + for_terminal(lines);
}

}  // namespace

std::string add_to_history(const result::RunResult& run, const fs::path& folder, const fs::path& results,
                           const Console& console) {
  if (!is_in_experiment_below(folder, results)) return {};
  const answer::TerminalOptions options{console.width, console.ascii, console.colour};
  std::string lines;
  const auto warn = [&](const std::string& text) { console.warn(text); };
  try {
    history::with_index(
        results, warn, [&](history::Index& index) { lines = lines_since_last(index, run, folder, options); });
  } catch (const std::exception& e) {
    console.warn(fmt::format("the run was not added to the history: {}", plain_reason(e)));
  }
  return lines;
}

}  // namespace paceline::cli
