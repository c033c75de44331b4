// SPDX-License-Identifier: MIT
#pragma once
#include <map>
#include <optional>
#include <string>

#include "base/error.h"
#include "run/artefacts/stages.h"
#include "run/case/kind.h"
#include "run/inference/kept_passes.h"

namespace paceline::run {

// Needs of a case before its check: a built-in model as the file that the engine reads, that file in another
// precision or built for the engine alone, and the reference outputs. Each is made in a pass of its own, once
// for all cases that want the same.
class CasePreparation {
 public:
  // Everything outlives this.
  CasePreparation(const KindTools& tools, Graph& graph, const KeptPasses& kept)
      : tools_(tools), graph_(graph), kept_(kept) {}

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
  [[nodiscard]] PreparePass passes_of(const CaseRun& c, bool announced = true) const;
  bool use_model_file_of(CaseRun& c);
  std::optional<ModelFile> model_file_for(CaseRun& c, const std::string& engine_name);
  bool quantise(CaseRun& c);
  Target quantised_target(CaseRun& c, const std::string& source);
  bool build(CaseRun& c);
  Target built_target(CaseRun& c);
  struct SecondRun {
    std::string file, why_not;  // one of them
  };
  bool skip_reference(CaseRun& c, pass::PassSpec& pass, const pass::PassSpec& reference,
                      const PassFailure& failure);
  SecondRun second_run(CaseRun& c, pass::PassSpec reference);
  SecondRun run_beside(CaseRun& c, const pass::PassSpec& reference);
  void add_second_reference(CaseRun& c, pass::PassSpec& pass, const pass::PassSpec& reference);
  bool run_unoptimised_reference(CaseRun& c, pass::PassSpec& pass, const std::string& file, bool with_unit);
  bool make_model_reference(CaseRun& c, pass::PassSpec& pass, const std::string& model, Units units);
  bool run_reference(CaseRun& c, const pass::PassSpec& reference);
  std::optional<PassFailure> reference_failure(CaseRun& c, const pass::PassSpec& reference);
  [[nodiscard]] std::string reference_file(const std::string& key) const;

  KindTools tools_;
  Graph& graph_;
  const KeptPasses& kept_;
  std::map<std::string, bool> units_of_own_runs_;  // by quantised file
};

}  // namespace paceline::run
