// SPDX-License-Identifier: MIT
#pragma once
#include <map>
#include <optional>
#include <string>
#include <utility>

#include "base/error.h"
#include "run/artefacts/engine_build.h"
#include "run/case/kind.h"
#include "run/inference/artefacts.h"
#include "run/inference/kept_passes.h"

namespace paceline::run {

// Needs of a case before its check: a built-in model as the file that the engine reads, that file in another
// precision or built for the engine alone, and the reference outputs. Each is made in a pass of its own, once
// for all cases that want the same.
class CasePreparation {
 public:
  // Everything outlives this.
  CasePreparation(const KindTools& tools, Artefacts& artefacts, const KeptPasses& kept)
      : tools_(tools), artefacts_(artefacts), kept_(kept) {}

  // Names the model's file in the case. False: the case has ended, or the run is interrupted.
  bool make_model(CaseRun& c);
  // Units of errors: the first change that gives one, or the largest of all. A quantised file's own run needs
  // none as long as the engine is close to it.
  struct Units {
    bool largest = false, of_own_run = false;
    bool operator==(const Units&) const = default;
  };
  // Names the reference in the check pass; without one there is no claim about accuracy, and the result says
  // so. False: likewise.
  bool make_reference(CaseRun& c, pass::PassSpec& pass, Units units);

 private:
  // A built-in model as a file; no path where the engine has the model itself.
  struct ModelFile {
    std::string path;
    pass::PreparedFile prepared;
  };
  struct ReferenceFailure {
    std::string code, reason;  // empty: it did not fail
    bool read_the_file = false;
  };
  bool use_model_file_of(CaseRun& c);
  std::optional<ModelFile> model_file_for(CaseRun& c, const std::string& engine_name);
  std::optional<ModelFile> make_model_file(CaseRun& c, const pass::PassSpec& pass);
  bool quantise(CaseRun& c);
  pass::PassSpec complete_quantise_pass(CaseRun& c, const std::string& source);
  const process::WorkerOutcome& quantised_file(CaseRun& c, const pass::PassSpec& pass);
  struct BuildOutcome {
    pass::PreparedFile file;
    std::optional<Error> error{};
  };
  bool build(CaseRun& c);
  std::optional<std::pair<std::string, pass::PreparedFile>> built_file(CaseRun& c, const BuildOrder& order);
  struct SecondRun {
    std::string file, why_not;  // one of them
  };
  bool skip_reference(CaseRun& c, pass::PassSpec& pass, const pass::PassSpec& reference,
                      const ReferenceFailure& failure);
  SecondRun second_run(CaseRun& c, pass::PassSpec reference);
  SecondRun run_beside(CaseRun& c, const pass::PassSpec& reference);
  void add_second_reference(CaseRun& c, pass::PassSpec& pass, const pass::PassSpec& reference);
  bool run_unoptimised_reference(CaseRun& c, pass::PassSpec& pass, const std::string& file, bool with_unit);
  bool make_model_reference(CaseRun& c, pass::PassSpec& pass, const std::string& model, Units units);
  bool run_reference(CaseRun& c, const pass::PassSpec& reference, const std::string& key);
  ReferenceFailure reference_failure(CaseRun& c, const pass::PassSpec& reference, const std::string& key);

  KindTools tools_;
  Artefacts& artefacts_;
  const KeptPasses& kept_;
  std::map<std::string, ReferenceFailure> failed_references_;
  std::map<std::string, bool> units_of_own_runs_;              // by quantised file
  std::map<std::string, process::WorkerOutcome> model_files_;  // by name, made or not
  std::map<std::filesystem::path, BuildOutcome> built_files_;  // likewise
};

}  // namespace paceline::run
