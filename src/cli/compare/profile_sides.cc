// SPDX-License-Identifier: MIT
#include "cli/compare/profile_sides.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>

#include "analysis/traces/trace_folder.h"
#include "base/display_text.h"
#include "base/error.h"
#include "cli/compare/stored_sides.h"
#include "cli/profile/nsight_profile.h"
#include "result/run_directory.h"

namespace paceline::cli {
namespace fs = std::filesystem;
namespace {

struct SuffixRow {
  std::string_view suffix;
  SideKind kind;
};
constexpr std::array kSuffixes{
    SuffixRow{".csv", SideKind::kKernels}, SuffixRow{".ncu-rep", SideKind::kKernels},
    SuffixRow{".sqlite", SideKind::kTimeline}, SuffixRow{".nsys-rep", SideKind::kTimeline},
    SuffixRow{".json.gz", SideKind::kTraces}};

// As SideKind.
constexpr std::array<std::string_view, 4> kKindWords{"a run", "a trace of PyTorch",
                                                     "a file of Nsight Compute", "a file of Nsight Systems"};

bool is_trace_name(const std::string& name) {
  return (name.ends_with(".json") || name.ends_with(".json.gz")) && name != result::kSummaryFile;
}

// A trace of PyTorch names its parts near its beginning.
bool begins_like_trace(const fs::path& file) {
  constexpr std::size_t kLooked = 65'536;
  std::ifstream in(file, std::ios::binary);
  std::string begin(kLooked, '\0');
  in.read(begin.data(), static_cast<std::streamsize>(begin.size()));
  begin.resize(static_cast<std::size_t>(in.gcount()));
  return std::ranges::any_of(std::array{"\"traceEvents\"", "\"distributedInfo\"", "\"deviceProperties\""},
                             [&](const char* word) { return begin.find(word) != std::string::npos; });
}

bool has_traces(const fs::path& folder) {
  constexpr int kDeepest = 3;
  bool traces = false;
  std::error_code error;
  for (fs::recursive_directory_iterator it(folder, fs::directory_options::skip_permission_denied, error), end;
       it != end; it.increment(error)) {
    if (it.depth() >= kDeepest) it.disable_recursion_pending();
    const auto name = it->path().filename().string();
    if (name == result::kSummaryFile) return false;
    const bool candidate = !traces && is_trace_name(name) && it->is_regular_file(error);
    if (candidate) traces = name.ends_with(".gz") || begins_like_trace(it->path());
  }
  return traces;
}

// --from is what another command calls it.
std::string without_flag(std::string message) {
  constexpr std::string_view kFlag = "--from ";
  return message.starts_with(kFlag) ? message.substr(kFlag.size()) : message;
}

compare::Profile profile_in(const std::string& name, std::size_t side) {
  compare::Side named{side_name(side), shown_path(name)};
  if (const auto file = read_nsight(name))
    return std::visit([&](const auto& one) { return compare::profile_of(named, one); }, *file);
  try {
    auto found = analysis::traces::traces_in(name);
    auto profile = compare::profile_of(named, found.ranks);
    profile.remarks.insert(profile.remarks.end(), found.left_out.begin(), found.left_out.end());
    return profile;
  } catch (const Error& error) {
    throw Error(error.code(), without_flag(error.what()));
  }
}

}  // namespace

SideKind side_kind(const std::string& name) {
  std::error_code unknown;
  if (fs::is_directory(name, unknown)) return has_traces(name) ? SideKind::kTraces : SideKind::kRun;
  const auto* row =
      std::ranges::find_if(kSuffixes, [&](const auto& one) { return name.ends_with(one.suffix); });
  if (row != kSuffixes.end()) return row->kind;
  const bool trace = is_trace_name(fs::path(name).filename().string()) &&
                     fs::is_regular_file(name, unknown) && begins_like_trace(name);
  return trace ? SideKind::kTraces : SideKind::kRun;
}

SideKind common_kind(const std::vector<std::string>& names) {
  if (names.empty()) return SideKind::kRun;
  const auto first = side_kind(names.front());
  for (std::size_t i = 1; i < names.size(); ++i)
    if (const auto other = side_kind(names[i]); other != first)
      throw Error(ErrorCode::kUsage,
                  fmt::format("{} is {} and {} is {}; compare sides of one kind", shown_path(names.front()),
                              kKindWords.at(static_cast<std::size_t>(first)), shown_path(names[i]),
                              kKindWords.at(static_cast<std::size_t>(other))));
  return first;
}

std::vector<compare::Profile> profile_sides(const std::vector<std::string>& names) {
  require_sides(names);
  std::vector<compare::Profile> sides;
  for (std::size_t i = 0; i < names.size(); ++i) {
    std::error_code unknown;
    for (std::size_t k = 0; k < i; ++k)
      if (fs::equivalent(names[k], names[i], unknown))
        throw Error(ErrorCode::kUsage, fmt::format("{} and {} are the same, {}; name two", side_name(k),
                                                   side_name(i), shown_path(names[i])));
    sides.push_back(profile_in(names[i], i));
  }
  return sides;
}

}  // namespace paceline::cli
