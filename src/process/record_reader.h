// SPDX-License-Identifier: MIT
// Cuts the byte stream of a worker into records and keeps a copy of them on disk.
#pragma once
#include <cstddef>
#include <filesystem>
#include <functional>
#include <string>
#include <string_view>

#include "pass/records.h"

namespace paceline::process {

using OnProgress = std::function<void(const pass::ProgressRecord&)>;

// Cuts a byte stream into records, keeps a copy on disk when it is complete, and gives up at the first line
// that is none: add() throws Error(kData).
class RecordReader {
 public:
  // No path: no copy. `case_id` is whose records they are.
  RecordReader(std::filesystem::path file, OnProgress on_progress, std::string case_id = {});
  void add(std::string_view bytes);
  // Takes whatever is in a pipe that does not block. False at the end of the stream.
  bool drain(int fd);
  // The stream is complete: its file is written, and the one of its parts goes.
  void commit() const;
  [[nodiscard]] const std::filesystem::path& file() const { return file_; }
  [[nodiscard]] pass::PassReport& report() { return report_; }

 private:
  void take(std::string_view line);
  void append_unfinished();
  void keep_part();

  std::filesystem::path file_;
  std::string case_id_;
  OnProgress on_progress_;
  std::string pending_;
  std::string kept_;
  std::size_t on_disk_ = 0;  // bytes of kept_ that are in the file of an unfinished pass
  pass::PassReport report_;
};

}  // namespace paceline::process
