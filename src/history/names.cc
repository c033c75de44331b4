// SPDX-License-Identifier: MIT
#include "history/names.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "base/display_text.h"
#include "base/text.h"

namespace paceline::history {
namespace {

constexpr std::size_t kShownNames = 5;

std::vector<const Indexed*> runs_with_mark(std::span<const Indexed> runs, const std::string& name) {
  std::vector<const Indexed*> found;
  for (const auto& one : runs)
    if (std::ranges::count(one.tags, name) + std::ranges::count(one.pins, name) > 0) found.push_back(&one);
  return found;
}

std::vector<const Indexed*> runs_by_id(std::span<const Indexed> runs, const std::string& beginning) {
  std::vector<const Indexed*> found;
  for (const auto& one : runs) {
    if (one.run.run_id == beginning) return {&one};
    if (!beginning.empty() && one.run.run_id.starts_with(beginning)) found.push_back(&one);
  }
  return found;
}

[[noreturn]] void unknown_run(std::span<const Indexed> runs, const std::string& name) {
  std::vector<std::string> names;
  for (const auto& one : runs) {
    names.push_back(one.run.run_id);
    names.insert(names.end(), one.tags.begin(), one.tags.end());
    names.insert(names.end(), one.pins.begin(), one.pins.end());
  }
  const auto near = nearest_name(name, names);
  throw Error(ErrorCode::kUsage,
              fmt::format("'{}' is no run, tag or pin here{}; paceline history lists them", shown_value(name),
                          near ? fmt::format("; did you mean '{}'?", shown_value(*near)) : ""));
}

}  // namespace

const Indexed& find_run(std::span<const Indexed> runs, const std::string& name) {
  auto found = runs_with_mark(runs, name);
  if (found.empty()) found = runs_by_id(runs, name);
  if (found.empty()) unknown_run(runs, name);
  if (found.size() == 1) return *found.front();
  std::vector<std::string> ids;
  for (const auto* one : found) ids.push_back(one->run.run_id);
  ids.resize(std::min(ids.size(), kShownNames));
  throw Error(ErrorCode::kUsage,
              fmt::format("'{}' is the beginning of {} runs ({}{}); write more of it", shown_value(name),
                          found.size(), join(ids, ", "), found.size() > ids.size() ? ", …" : ""));
}

std::filesystem::path resolve(const std::filesystem::path& results, const std::string& name,
                              const Warn& warn) {
  std::filesystem::path folder;
  with_index(results, warn, [&](Index& index) {
    index.update();
    const auto runs = index.runs(headline_metrics());
    const auto& found = find_run(runs, name);
    if (found.gone)
      throw Error(ErrorCode::kUsage, fmt::format("run '{}' is no longer in {}", shown_value(name),
                                                 shown_path(found.run.folder)));
    folder = found.run.folder;
  });
  return folder;
}

void check_mark_name(const std::string& name) {
  const auto fits = [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '-' || c == '_' || c == '.' || c == '+';
  };
  constexpr std::size_t kLongest = 80;
  const bool readable = !name.empty() && name.size() <= kLongest && name.front() != '-' &&
                        name.front() != '.' && std::ranges::all_of(name, fits);
  if (!readable)
    throw Error(
        ErrorCode::kUsage,
        fmt::format("'{}' cannot be a name: letters, digits, '-', '_', '+' and '.' can be in it, at most {}",
                    shown_value(name), kLongest));
}

}  // namespace paceline::history
