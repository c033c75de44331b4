// SPDX-License-Identifier: MIT
#pragma once
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "analysis/traces/trace_study.h"
#include "base/handle.h"
#include "cli/run/live_file.h"

namespace paceline::cli {

// Follows an attached job from its step files while it runs: keeps live.json beside them, which `monitor`
// finds, and tells on stderr which rank became late. Uses at most 0.5 % of a core. The job never notices
// what fails here.
class JobWatch {
 public:
  // `command`: of the job. `tell`: of a late rank.
  JobWatch(const std::filesystem::path& folder, const std::vector<std::string>& command, bool tell);
  JobWatch(const JobWatch&) = delete;
  JobWatch& operator=(const JobWatch&) = delete;
  ~JobWatch();  // removes its files

 private:
  void follow(const std::stop_token& stop);
  void look();
  void tell_of_late_rank(const analysis::traces::TraceStudy& study);

  std::filesystem::path folder_;
  bool tell_;
  FileDescriptor lock_;  // by which monitor finds the folder
  LiveFile live_;
  std::optional<std::int64_t> told_;  // the rank that was named last
  std::jthread thread_;
};

// The script of the command, or else the command, for people.
std::string label_of(const std::vector<std::string>& command);

// The newest steps of the job; nothing while they tell nothing yet.
std::optional<pass::ProgressRecord> progress_of(const analysis::traces::TraceStudy& study);

}  // namespace paceline::cli
