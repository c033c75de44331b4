// SPDX-License-Identifier: MIT
#pragma once
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "base/handle.h"
#include "result/stored/run_result.h"
#include "result/stored/samples.h"

// The layout of a run on disk: docs/results.md. Every file is replaced atomically.
namespace paceline::result {

inline constexpr const char* kSummaryFile = "run_summary.json";  // of a run, in its folder

// UTC time and four random hex digits: 20261121T014500Z-7f3a; sorts by time, never reused.
std::string new_run_id();

enum class CaseFiles { kInFolders, kBesideSummary };  // cases/<case_id>/; for a single case the run's folder

// Makes `below` in the folder of a run. Throws Error(kIo) if a folder anywhere in it is a link.
std::filesystem::path make_run_folder(const std::filesystem::path& run,
                                      const std::filesystem::path& below = {});

// A run directory open for writing. It holds a lock; a second run into the same folder gets Error(kUsage).
class RunDirectory {
 public:
  // Creates `folder` with its parents and takes the lock.
  explicit RunDirectory(std::filesystem::path folder, CaseFiles files = CaseFiles::kInFolders);
  [[nodiscard]] const std::filesystem::path& path() const { return folder_; }
  // The folder of a case, created on demand. One that exists below cases/ is used in any case.
  [[nodiscard]] std::filesystem::path case_dir(const std::string& case_id) const;
  [[nodiscard]] std::filesystem::path summary_path() const { return folder_ / kSummaryFile; }

  // Writes result.json and samples.csv; the result names the latter with its digest.
  SamplesFile write_case(const CaseResult& result, const std::vector<Sample>& samples) const;
  // run_summary.json, summary.csv, and collectives.csv where there are sweeps.
  void write_summary(const RunResult& run) const;

 private:
  std::filesystem::path folder_;
  CaseFiles files_;
  FileDescriptor lock_;
};

// summary.csv: one row per case, columns from the metric table; the cell of a missing number is empty.
std::string summary_csv(const RunResult& run);

// A stored run. `path` is a run directory, a run_summary.json, or a folder of runs, of which the newest is
// read. Throws Error(kData) or Error(kIo) with what is wrong and where.
struct StoredRun {
  std::filesystem::path folder;
  RunResult run;
};
StoredRun read_run(const std::filesystem::path& path);

// The folder with the files of a case; of a run with one case the run's folder.
std::filesystem::path folder_of_case(const StoredRun& stored, const std::string& case_id);

// Samples of one case of a stored run. A case may have none; where they are missing, `lacking` says why: a
// run directory may be passed on without the file, and a file that run_summary.json does not name is not
// trusted.
struct CaseSamples {
  std::vector<Sample> samples;
  std::string lacking;
};
CaseSamples read_case_samples(const StoredRun& stored, const CaseResult& c);

// One sentence per result.json that disagrees with run_summary.json about its case: one of the two was
// changed after the run. Empty for a run that did not end, whose files may be one step apart.
std::vector<std::string> changed_results(const StoredRun& stored);

// Whether a file exists, after links, in the folder of a stored run or in those of its cases and passes.
bool is_in_run(const std::filesystem::path& file);

}  // namespace paceline::result
