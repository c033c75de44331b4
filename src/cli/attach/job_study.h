// SPDX-License-Identifier: MIT
#pragma once
#include <filesystem>
#include <optional>
#include <string>

#include "analysis/traces/trace_study.h"

namespace paceline::cli {

// Content of the step files of a job, read before its exit code is handed on.
struct JobStudy {
  std::optional<analysis::traces::TraceStudy> study;
  bool whole = true;    // false: of the newest steps alone, because the files are large
  std::string problem;  // with the files; empty: none, or there is no file
};

JobStudy study_of_job(const std::filesystem::path& folder);

// The study of the newest steps, at most this number per rank; empty where there is no file.
std::optional<analysis::traces::TraceStudy> study_of_newest(const std::filesystem::path& folder,
                                                            std::size_t steps);

}  // namespace paceline::cli
