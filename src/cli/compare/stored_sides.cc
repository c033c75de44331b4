// SPDX-License-Identifier: MIT
#include "cli/compare/stored_sides.h"

#include <fmt/format.h>

#include <filesystem>

#include "base/display_text.h"
#include "base/error.h"
#include "cli/run/run_history.h"
#include "history/index.h"
#include "history/names.h"

namespace paceline::cli {
namespace fs = std::filesystem;
namespace {

constexpr std::size_t kMostSides = 26;

compare::SideRun side_of(const std::string& name, std::size_t side, const Console& console) {
  std::error_code unknown;
  auto stored = result::read_run(name);
  const auto folder = shown_path(stored.folder.string());
  if (fs::is_directory(name, unknown) && !fs::exists(fs::path(name) / result::kSummaryFile, unknown))
    console.warn(
        fmt::format("{} is the newest run below '{}': {}", side_name(side), shown_path(name), folder));
  for (const auto& sentence : result::changed_results(stored)) console.warn(sentence);
  auto what = fmt::format("{} ({})", folder,
                          stored.run.started_utc.empty() ? "start unknown" : stored.run.started_utc);
  return {{side_name(side), std::move(what), stored.run.run_id}, std::move(stored)};
}

}  // namespace

std::string side_name(std::size_t side) {
  return std::string(1, static_cast<char>('A' + side));
}

std::vector<std::string> named_sides(std::vector<std::string> names, const config::Settings& options,
                                     const Console& console) {
  if (options.has("baseline_run")) names.insert(names.begin(), options.text("baseline_run"));
  const fs::path results = kResults;
  std::error_code unknown;
  for (auto& name : names)
    if (!fs::exists(name, unknown) && fs::exists(results / history::kIndexFile, unknown))
      name = history::resolve(results, name, [&](const std::string& words) { console.warn(words); }).string();
  return names;
}

void require_sides(const std::vector<std::string>& names) {
  if (names.size() < 2)
    throw Error(ErrorCode::kUsage, fmt::format("compare needs two runs, and {}; usage: paceline compare "
                                               "results/before results/after",
                                               names.empty() ? "none is given" : "one is given"));
  if (names.size() > kMostSides)
    throw Error(ErrorCode::kUsage,
                fmt::format("{} runs are given, and compare takes at most {}", names.size(), kMostSides));
  std::error_code unknown;
  for (std::size_t i = 0; i < names.size(); ++i)
    if (!fs::exists(names[i], unknown))
      throw Error(ErrorCode::kUsage,
                  fmt::format("{} ({}): no such file or folder", shown_path(names[i]), side_name(i)));
}

std::vector<compare::SideRun> stored_sides(const std::vector<std::string>& names, const Console& console) {
  require_sides(names);
  std::vector<compare::SideRun> sides;
  for (std::size_t i = 0; i < names.size(); ++i) sides.push_back(side_of(names[i], i, console));
  return sides;
}

}  // namespace paceline::cli
