// SPDX-License-Identifier: MIT
#include "analysis/traces/trace_folder.h"

#include <fmt/format.h>

#include <algorithm>
#include <regex>
#include <system_error>
#include <utility>

#include "analysis/traces/rank_reader.h"
#include "analysis/traces/trace_file.h"
#include "base/display_text.h"
#include "base/error.h"
#include "base/text.h"

namespace paceline::analysis::traces {
namespace {

namespace fs = std::filesystem;

constexpr int kDeepestFolder = 3;
constexpr std::size_t kMostFiles = 10'000;

bool may_be_trace(const fs::path& file) {
  const std::string name = file.filename().string();
  return name.ends_with(".json") || name.ends_with(".json.gz");
}

[[noreturn]] void refuse_from(const fs::path& from, const std::string& why) {
  throw Error(ErrorCode::kUsage, fmt::format("--from {}: {}", shown_value(from.string()), why));
}

// The files of one level of folders that may be traces, and the folders of the next one.
struct Level {
  std::vector<fs::path> files, folders, odd;  // odd: neither file nor folder, with the name of a trace
};

void add_folder(Level& level, const fs::path& folder, const fs::path& from) {
  std::error_code error;
  fs::directory_iterator entries(folder, error);
  for (; !error && entries != fs::directory_iterator(); entries.increment(error)) {
    std::error_code unknown;
    const auto type = entries->status(unknown).type();
    if (type == fs::file_type::directory)
      level.folders.push_back(entries->path());
    else if (may_be_trace(entries->path()))
      (type == fs::file_type::regular ? level.files : level.odd).push_back(entries->path());
    if (level.files.size() + level.folders.size() > kMostFiles)
      refuse_from(from,
                  fmt::format("there are more than {} files and folders in it; put the traces of one run "
                              "into a folder",
                              kMostFiles));
  }
  if (error) refuse_from(from, fmt::format("{}: {}", shown_value(folder.string()), error.message()));
}

void read_file_into(FoundTraces& found, const fs::path& file, const fs::path& from) {
  const fs::path below = from == file ? file.filename() : file.lexically_relative(from);
  auto reading = read_trace(file, below.string());
  const auto named = rank_in_name(below);
  if (!reading.trace) {
    // A rank whose trace was cut off before its first event is no foreign file.
    if (rank_in_name(below.filename()).rank) throw Error(ErrorCode::kData, reading.why_none);
    return found.left_out.push_back(std::move(reading.why_none));
  }
  RankTrace& one = found.ranks.emplace_back(rank_trace(*reading.trace));
  if (!one.rank) one.rank = named.rank;
  one.number = named.number;
}

}  // namespace

NamedRank rank_in_name(const fs::path& below) {
  static const std::regex named(R"(rank[_\-. ]?(\d{1,6})(?!\d))", std::regex::icase);
  static const std::regex part(R"((?:^|[._\-])(\d{1,5})(?=\.))"), all(R"(\d{1,5})");
  NamedRank found;
  const auto number = [](const std::smatch& match) { return parse_int(match[match.size() - 1].str()); };
  for (fs::path at = below; !at.empty() && at != "/"; at = at.parent_path()) {
    const std::string name = at.filename().string();
    std::smatch match;
    if (!found.rank && std::regex_search(name, match, named)) found.rank = number(match);
    if (found.number) continue;
    const bool file = at == below;
    // <host>_<process>.<time>.pt.trace.json, as tensorboard_trace_handler names it.
    if (file && name.find(".pt.trace.json") != std::string::npos) continue;
    if (file ? std::regex_search(name, match, part) : std::regex_match(name, match, all))
      found.number = number(match);
  }
  return found;
}

FoundTraces traces_in(const fs::path& from) {
  std::error_code error;
  const auto type = fs::status(from, error).type();
  FoundTraces found;
  if (type == fs::file_type::regular) {
    read_file_into(found, from, from);
  } else if (type == fs::file_type::directory) {
    Level level;
    level.folders = {from};
    for (int depth = 0; depth <= kDeepestFolder && found.ranks.empty() && !level.folders.empty(); ++depth) {
      Level next;
      for (const auto& folder : level.folders) add_folder(next, folder, from);
      std::ranges::sort(next.files);
      for (const auto& file : next.files) read_file_into(found, file, from);
      for (const auto& file : next.odd)
        found.left_out.push_back(fmt::format("{} is no regular file", file.filename().string()));
      level = std::move(next);
    }
  } else {
    refuse_from(from, type == fs::file_type::not_found ? "there is no such file or folder"
                      : error                          ? error.message()
                                                       : "it is neither a file nor a folder");
  }
  if (!found.ranks.empty()) return found;
  if (type == fs::file_type::regular) throw Error(ErrorCode::kData, found.left_out.front());
  refuse_from(from,
              fmt::format("there is no trace in it; it takes a .json or .json.gz of PyTorch's profiler per "
                          "rank (prof.export_chrome_trace){}",
                          found.left_out.empty() ? "" : "; " + found.left_out.front()));
}

}  // namespace paceline::analysis::traces
