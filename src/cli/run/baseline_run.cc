// SPDX-License-Identifier: MIT
#include "cli/run/baseline_run.h"

#include <fmt/format.h>

#include "base/display_text.h"
#include "base/error.h"
#include "history/names.h"

namespace paceline::cli {
namespace fs = std::filesystem;

result::StoredRun baseline_run(const std::string& name, const fs::path& results, const history::Warn& warn) {
  std::error_code unknown;
  if (fs::exists(name, unknown)) return result::read_run(name);
  if (!fs::exists(results / history::kIndexFile, unknown))
    throw Error(ErrorCode::kUsage,
                fmt::format("baseline '{}': there is no such folder, and {} has no history; "
                            "name a run, or paceline history --pin one",
                            shown_value(name), shown_path(results.string())));
  return result::read_run(history::resolve(results, name, warn));
}

}  // namespace paceline::cli
