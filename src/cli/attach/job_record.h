// SPDX-License-Identifier: MIT
#pragma once
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "base/json.h"
#include "cli/attach/attached_job.h"
#include "cli/attach/job_study.h"
#include "cli/context.h"
#include "result/stored/run_result.h"

// Keeps a finished job as a run of one case beside its step files, as `history` lists it.
namespace paceline::cli {

struct FinishedJob {
  std::filesystem::path folder;  // of the step files
  std::vector<std::string> command;
  std::string command_line;  // of attach, or of the job
  std::string started_utc;
  std::string run_id;
  std::optional<JobEnd> end;  // none: another program started it, and the files say what is known
  bool orderly = true;        // all ranks noted their end
  std::string exception{};    // type of the first uncaught one; empty: none is known
  std::int64_t failed_rank = 0;
};

// Equal commands from the script on, on equally many ranks, are one benchmark. `environment`: facts of the
// machine, to which those of the job are added. A job that failed has a failed case, which keeps its figures.
result::RunResult run_of_job(const FinishedJob& job, const analysis::traces::TraceStudy& study,
                             nlohmann::json environment);

// Writes run_summary.json, and adds the run to the history of the folder of runs that it is in. Returns lines
// about the runs before, which may be none. Throws Error(kIo).
std::string record_job(const FinishedJob& job, const JobStudy& of_job, const Console& console);

// Whether the folder has step files that are no run yet.
bool is_unrecorded_job(const std::filesystem::path& folder);

// Writes run_summary.json for a job that another program started, from its step files. Throws Error(kData) if
// they have no steady step or are still being written, and Error(kIo).
void record_step_files(const std::filesystem::path& folder);

}  // namespace paceline::cli
