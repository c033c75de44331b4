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
#include "base/maybe.h"
#include "cli/run/live_file.h"

namespace paceline::cli {

// Work of a watch besides keeping live.json.
struct WatchWishes {
  bool tell = true;              // on stderr, which rank became late, and that steps became longer
  std::int64_t trace_steps = 0;  // that all ranks trace then; 0: none
};

// Follows an attached job from its step files while it runs, and keeps live.json beside them, which `monitor`
// finds. Uses at most 0.5 % of a core. The job never notices what fails here.
class JobWatch {
 public:
  // `command`: of the job.
  JobWatch(const std::filesystem::path& folder, const std::vector<std::string>& command,
           const WatchWishes& wishes);
  JobWatch(const JobWatch&) = delete;
  JobWatch& operator=(const JobWatch&) = delete;
  ~JobWatch();  // removes its files

 private:
  void follow(const std::stop_token& stop);
  void look();
  // Words on what became of the job since the last look; empty: nothing did.
  std::string change_in(const analysis::traces::TraceStudy& study);
  std::string late_rank_in(const analysis::traces::TraceStudy& study);
  std::string longer_steps_in(const analysis::traces::TraceStudy& study);
  // Where the trace of the next steps will be; empty: none is made.
  std::string trace_steps(double step_ns);
  // Which traces are not whole; empty: none.
  [[nodiscard]] std::string missing_traces() const;

  std::filesystem::path folder_;
  WatchWishes wishes_;
  FileDescriptor lock_;  // by which monitor finds the folder
  LiveFile live_;
  std::size_t newest_;                // steps of the next look
  std::optional<std::int64_t> late_;  // the rank that was named last
  Number usual_ns_;  // upper end of the interval of a step's median, before steps became longer
  std::vector<std::int64_t> traces_;               // ranks that were asked, for each
  std::uint64_t asked_at_ = 0, traced_until_ = 0;  // by the clock of the step files
  std::jthread thread_;
};

// The first word of a command that is a Python script, or its end.
std::vector<std::string>::const_iterator script_in(const std::vector<std::string>& command);

// The script of the command, or else the command, for people.
std::string label_of(const std::vector<std::string>& command);

// The newest steps of the job; nothing while they tell nothing yet.
std::optional<pass::ProgressRecord> progress_of(const analysis::traces::TraceStudy& study);

}  // namespace paceline::cli
