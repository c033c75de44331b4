// SPDX-License-Identifier: MIT
// Result of an inference case, from its passes.
#pragma once
#include <string>

#include "run/case/case_run.h"
#include "run/case/kind_rules.h"

namespace paceline::run {

const KindRules& inference_rules();

// Takes over the file of the built-in model, and has the passes of the engine use it.
void apply_model_file(CaseRun& run, const std::string& file, const pass::PreparedFile& prepared);
void describe_given_file(CaseRun& run);  // a model file of the user's

// Takes over what a check pass found: a failed accuracy check or an executed precision other than asked ends
// the case.
void apply_check(CaseRun& run, const pass::PassReport& report);

// Times of layers, where they were asked for; the case itself stays as it is.
bool asks_layer_profile(const CaseRun& run);
process::WorkerOutcome not_prepared();  // of a case that was finished before this --resume
void apply_layer_profile(CaseRun& run, const process::WorkerOutcome& outcome);

}  // namespace paceline::run
