// SPDX-License-Identifier: MIT
// Built-in models as files for engines that take one of their own, built in a run for the shapes of a case.
#pragma once
#include "run/artefacts/engine_build.h"
#include "run/case/case_run.h"

namespace paceline::run {

// The inputs that the case loads the model for: a server's batches are larger than its requests.
std::vector<TensorSpec> loaded_inputs(const pass::PassSpec& base);

// Order for building the case's model file in `folder`: equal for cases that share the file.
BuildOrder build_order(const CaseRun& c, const std::filesystem::path& folder);
// Name in `folder` of a model's file that is made for several cases.
std::filesystem::path model_file_in(const std::filesystem::path& folder, const std::string& key,
                                    const std::string& format);

}  // namespace paceline::run
