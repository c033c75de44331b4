// SPDX-License-Identifier: MIT
#pragma once
#include <filesystem>
#include <string>
#include <vector>

#include "base/handle.h"
#include "result/run_result.h"
#include "result/samples.h"

// Layout of a run on disk: docs/results.md. Every file is replaced atomically.
namespace paceline::result {

// UTC time and four random hex digits: 20261121T014500Z-7f3a; sorts by time, never reused.
std::string new_run_id();

// Where the files of a case are.
enum class CaseFiles { kInFolders, kBesideSummary };  // cases/<case_id>/; of a single case, the run's folder

// A run directory open for writing: holds a lock, so that two runs into one folder are refused with
// Error(kUsage).
class RunDirectory {
 public:
  // Creates `folder` (parents too) and takes the lock.
  explicit RunDirectory(std::filesystem::path folder, CaseFiles files = CaseFiles::kInFolders);
  [[nodiscard]] const std::filesystem::path& path() const { return folder_; }
  // Created on demand. A folder below cases/ that is there already is used in any case.
  [[nodiscard]] std::filesystem::path case_dir(const std::string& case_id) const;
  [[nodiscard]] std::filesystem::path summary_path() const { return folder_ / "run_summary.json"; }

  // result.json, samples.csv; the latter, with its digest, is what the result says of its samples.
  SamplesFile write_case(const CaseResult& result, const std::vector<Sample>& samples) const;
  void write_summary(const RunResult& run) const;  // run_summary.json, summary.csv

 private:
  std::filesystem::path folder_;
  CaseFiles files_;
  FileDescriptor lock_;
};

// summary.csv: one row a case, columns from the metric table; a missing number is an empty cell.
std::string summary_csv(const RunResult& run);

// A stored run. `path` is a run directory, a run_summary.json, or a folder that holds runs (then the newest).
// Throws Error(kData) or Error(kIo) with what is wrong and where.
struct StoredRun {
  std::filesystem::path folder;
  RunResult run;
};
StoredRun read_run(const std::filesystem::path& path);

// Samples of one case of a stored run. A case may have none; where it lacks those it had, `lacking` says why:
// a run directory may be passed on without the file, and one that run_summary.json does not name is not
// believed.
struct CaseSamples {
  std::vector<Sample> samples;
  std::string lacking;
};
CaseSamples read_case_samples(const StoredRun& stored, const CaseResult& c);

// A sentence for each result.json that does not say of its case what run_summary.json says: one of the two
// was changed after the run. None for a run that did not end, whose files may be a step apart.
std::vector<std::string> changed_results(const StoredRun& stored);

}  // namespace paceline::result
