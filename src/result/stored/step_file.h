// SPDX-License-Identifier: MIT
// The binary file with every step of every rank of one repetition: docs/results.md.
#pragma once
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "base/handle.h"
#include "result/stored/rank_steps.h"

namespace paceline::result {

// Identifies a finished file in the records of its pass.
struct StepFileMark {
  std::int64_t bytes = 0;
  std::int64_t crc32 = 0;  // of everything before the end block
  friend bool operator==(const StepFileMark&, const StepFileMark&) = default;
};

// Head of the file, before the rows.
struct StepFileHead {
  std::int64_t repetition = 0;
  bool interrupted = false;            // the repetition was not finished
  std::size_t buckets = 0;             // the most that a step has
  std::vector<std::string> entries{};  // step_file_entry() of each rank, in the order of ranks
};

// Entry of a rank, and how many rows it has: one line of text.
std::string step_file_entry(const RankSteps& table);
// Most buckets of one step.
std::size_t most_buckets(const RankSteps& table);
std::size_t step_row_bytes(std::size_t buckets);
// At most `count` rows from `first` on as a part of the file; empty: there are none.
std::string step_block(const RankSteps& table, std::size_t first, std::size_t count, std::size_t buckets);

// Writes a file piece by piece. Throws Error(kIo) naming the path.
class StepFileWriter {
 public:
  StepFileWriter(std::filesystem::path path, const StepFileHead& head);
  void add(std::string_view block);
  // The file is complete and on the disk; nothing must follow.
  StepFileMark finish();

 private:
  void write(std::string_view bytes);

  std::filesystem::path path_;
  FileDescriptor file_;
  StepFileMark mark_;
};

struct StepFile {
  std::int64_t repetition = 0;
  bool interrupted = false;
  std::vector<RankSteps> ranks;  // in the order of the file
  StepFileMark mark;
};

// Throws Error(kIo) when the file cannot be read, and Error(kData) when it is cut short, damaged, of another
// format, or lacks rows that it announces; each names the path.
StepFile read_step_file(const std::filesystem::path& path);

}  // namespace paceline::result
