// SPDX-License-Identifier: MIT
// Reads a step file, which may be damaged, cut off, or still being written.
#pragma once
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "attach/step_record.h"

namespace paceline::attach {

// Longest time from the start of the process that a record may have.
inline constexpr std::int64_t kLongestJob_ns = 31'536'000'000'000'000;  // a year

struct StepFile {
  std::string file;  // its name, for messages
  StepHeader header{};
  std::string host, torch, backend, device, command;  // fields of the header, as UTF-8
  std::vector<std::string> names;                     // by slot
  // By begin, of equal ones the longest first. Each has a known kind, times in order, and a name that exists
  // or none.
  std::vector<StepRecord> records;
  std::int64_t unfinished = 0;  // slots that were handed out and not filled
  std::int64_t damaged = 0;     // records with times, a kind or a name that cannot be
  bool running = false;         // its process still writes it
  bool full = false;            // the job went on when the file had no room left

  // Name of a record, or empty.
  [[nodiscard]] const std::string& name_of(const StepRecord& record) const;
};

// Throws Error(kIo) when it cannot be read, and Error(kData) when it is no step file, cut short, or its
// header has numbers that cannot be; each names the file. `name`: of the file, for messages.
StepFile read_step_file(const std::filesystem::path& path, const std::string& name);

// Reads of a file that is still being written the newest steps of its optimizers, at most this number, or
// what 65,536 records have of them.
StepFile newest_steps(const std::filesystem::path& path, std::size_t steps);

}  // namespace paceline::attach
