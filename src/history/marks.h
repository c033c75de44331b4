// SPDX-License-Identifier: MIT
// Facts about runs that no run folder has: tags, pins, notes and places of imported runs. They stand in a
// file beside the index, so that the index can be made again.
#pragma once
#include <filesystem>
#include <map>
#include <set>
#include <string>

namespace paceline::history {

inline constexpr const char* kMarksFile = "paceline_marks.json";

struct Marks {
  std::map<std::string, std::string> tags, pins;  // name -> run id
  std::map<std::string, std::string> notes;       // run id -> text
  std::set<std::string> imported;                 // folders elsewhere
  friend bool operator==(const Marks&, const Marks&) = default;
};

// Empty where there is no file. Throws Error(kData) for one that is no such file: it has no second copy.
Marks read_marks(const std::filesystem::path& results);
void write_marks(const std::filesystem::path& results, const Marks& marks);

}  // namespace paceline::history
