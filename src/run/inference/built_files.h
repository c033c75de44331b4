// SPDX-License-Identifier: MIT
// Built-in models as files for engines that take one of their own, built in a run for the shapes of a case.
#pragma once
#include "run/artefacts/engine_build.h"
#include "run/case/case_run.h"
#include "run/inference/artefacts.h"

namespace paceline::run {

// The inputs that the case loads the model for: a server's batches are larger than its requests.
std::vector<TensorSpec> loaded_inputs(const pass::PassSpec& base);

// Order for building the case's model file: equal for cases that share the file.
BuildOrder build_order(const CaseRun& c, const Artefacts& artefacts);

}  // namespace paceline::run
