// SPDX-License-Identifier: MIT
#include "cli/attach/job_study.h"

#include <utility>
#include <vector>

#include "analysis/traces/attached_study.h"
#include "attach/step_file.h"
#include "attach/step_header.h"
#include "base/error.h"

namespace paceline::cli {
namespace {

namespace fs = std::filesystem;

// Bytes of step files that are studied whole: more of them take seconds.
constexpr std::uintmax_t kMostStudiedBytes = 64'000'000;
constexpr std::size_t kNewestOfLarge = 2000;  // steps

std::uintmax_t bytes_of(const std::vector<fs::path>& files) {
  std::uintmax_t bytes = 0;
  for (const auto& file : files) bytes += fs::file_size(file);
  return bytes;
}

}  // namespace

std::optional<analysis::traces::TraceStudy> study_of_newest(const fs::path& folder, std::size_t steps) {
  std::vector<attach::StepFile> files;
  for (const auto& path : attach::step_files(folder)) files.push_back(attach::newest_steps(path, steps));
  std::vector<std::string> left_out;
  auto ranks = analysis::traces::attached_ranks(files, left_out);
  if (ranks.empty()) return std::nullopt;
  return analysis::traces::study_of(std::move(ranks));
}

JobStudy study_of_job(const fs::path& folder) {
  const auto files = attach::step_files(folder);
  JobStudy of_job{.study = {}, .whole = bytes_of(files) <= kMostStudiedBytes, .problem = {}};
  if (files.empty()) return of_job;
  try {
    of_job.study =
        of_job.whole ? analysis::traces::read_traces(folder) : study_of_newest(folder, kNewestOfLarge);
  } catch (const Error& e) {
    if (e.code() == ErrorCode::kData) of_job.problem = e.what();
  }
  return of_job;
}

}  // namespace paceline::cli
