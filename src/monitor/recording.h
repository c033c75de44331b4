// SPDX-License-Identifier: MIT
// Snapshots in a file, one JSON object a line behind a line about the machine.
#pragma once
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "monitor/snapshot.h"

namespace paceline::monitor {

class Recorder {
 public:
  // Begins a new file. Throws Error(kUsage) if the file exists, Error(kIo) where none can be
  // made.
  explicit Recorder(const std::filesystem::path& file);
  // Whole lines reach the system at once, so that a reader finds no half ones. Throws Error(kIo).
  void add(const Snapshot& snapshot);

 private:
  std::filesystem::path path_;
  std::ofstream file_;
};

struct Recording {
  std::string host;
  std::vector<Snapshot> snapshots;
  bool cut = false;  // its last line was not whole
};
// Throws Error(kData) for another kind of file, with the line that is wrong.
Recording read_recording(const std::filesystem::path& file);
// Reads the text of such a file; `file` is for messages.
Recording recording_in(const std::string& text, const std::filesystem::path& file);

// Recordings that runs made of their machine (--monitor), in the order in which they were made: a run that
// was resumed has several.
std::vector<std::filesystem::path> recordings_of_run(const std::filesystem::path& run_dir);
// Where the next one goes.
std::filesystem::path next_recording_of_run(const std::filesystem::path& run_dir);
// Whether a file begins like a recording.
bool is_recording(const std::filesystem::path& file);

}  // namespace paceline::monitor
