// SPDX-License-Identifier: MIT
#pragma once
#include <filesystem>
#include <string>
#include <vector>

#include "analysis/traces/attached_job.h"
#include "analysis/traces/rank_trace.h"
#include "attach/step_file.h"

// The ranks of a job that paceline was attached to, together.
namespace paceline::analysis::traces {

// The ranks with the steps that all of them have: others are left out, as where a rank was killed or had
// fewer batches. attach::job_files() says which files are of the job; `left_out` gets the others. Throws
// Error(kData) when two files of one rank are of the same time.
std::vector<RankTrace> attached_ranks(const std::vector<attach::StepFile>& files,
                                      std::vector<std::string>& left_out);

// Whether a path is a step file, or a folder of some.
bool is_attached(const std::filesystem::path& path);

// Reads a folder of step files, or one of them. Throws as read_step_file() and attached_rank() do.
std::vector<RankTrace> attached_in(const std::filesystem::path& from, std::vector<std::string>& left_out);

// Time besides steady steps, habits of the loop, and the cost of watching. The ranks have the same steps.
AttachedStudy attached_study(const std::vector<RankTrace>& ranks);

}  // namespace paceline::analysis::traces
