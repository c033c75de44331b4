// SPDX-License-Identifier: MIT
#pragma once
#include <atomic>
#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <string>

#include "run/artefacts.h"
#include "run/case_run.h"
#include "run/observer.h"
#include "run/plugin_choice.h"
#include "run/worker.h"

namespace paceline::run {

// What a case needs before its check: a built-in model as the file that the engine reads, that file in
// another precision, and the reference outputs. Each is made in a pass of its own, once for all cases that
// want the same.
class CasePreparation {
 public:
  using RunPass = std::function<WorkerOutcome(CaseRun& c, const workload::PassSpec& pass)>;
  CasePreparation(const EngineDirectory& engines, Artefacts& artefacts, std::filesystem::path run_dir,
                  RunObserver& observer, const std::atomic<bool>& interrupt, RunPass run_pass)
      : engines_(engines),
        artefacts_(artefacts),
        run_dir_(std::move(run_dir)),
        observer_(observer),
        interrupt_(interrupt),
        run_pass_(std::move(run_pass)) {}

  // Names the files in the case and in its check pass. False: the case has ended, or the run is interrupted.
  bool prepare(CaseRun& c, workload::PassSpec& pass);

 private:
  // A built-in model as a file; no path where the engine has the model itself.
  struct ModelFile {
    std::string path;
    workload::PreparedFile prepared;
  };
  struct ReferenceFailure {
    std::string code, reason;  // empty: it did not fail
  };
  bool use_model_file_of(CaseRun& c);
  std::optional<ModelFile> model_file_for(CaseRun& c, const std::string& engine_name);
  std::optional<ModelFile> make_model_file(CaseRun& c, const workload::PassSpec& pass);
  bool quantise(CaseRun& c);
  workload::PassSpec complete_quantise_pass(CaseRun& c, const std::string& source);
  const WorkerOutcome& quantised_file(CaseRun& c, const workload::PassSpec& pass);
  bool make_reference(CaseRun& c, workload::PassSpec& pass);
  bool make_file_reference(CaseRun& c, workload::PassSpec& pass, const std::string& file);
  bool run_reference(CaseRun& c, const workload::PassSpec& reference, const std::string& key);
  ReferenceFailure reference_failure(CaseRun& c, const workload::PassSpec& reference, const std::string& key);

  const EngineDirectory& engines_;
  Artefacts& artefacts_;
  std::filesystem::path run_dir_;
  RunObserver& observer_;
  const std::atomic<bool>& interrupt_;
  RunPass run_pass_;
  std::map<std::string, ReferenceFailure> failed_references_;
  std::map<std::string, WorkerOutcome> model_files_;  // by name, made or not
};

}  // namespace paceline::run
