// SPDX-License-Identifier: MIT
#pragma once
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "attach/job_files.h"
#include "attach/step_record.h"

namespace paceline::attach {

// Why these bytes at the beginning of a file of this length are no header that this version reads; empty if
// they are one.
std::string header_problem(const StepHeader& header, std::uint64_t file_bytes);

// Place of a file whose rank has made its `clock` of steps.
FilePlace place_of(const StepHeader& header);

// Text of a field of fixed size.
template <std::size_t kSize>
std::string field_text(const char (&field)[kSize]) {
  std::size_t length = 0;
  while (length < kSize && field[length] != '\0') ++length;
  return {field, length};
}

// rank<k>.steps files of a folder and, for ranks that were started again, rank<k>.<n>.steps, by name; empty
// if it is no folder.
std::vector<std::filesystem::path> step_files(const std::filesystem::path& folder);

}  // namespace paceline::attach
