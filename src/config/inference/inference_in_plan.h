// SPDX-License-Identifier: MIT
#pragma once
#include <string>
#include <vector>

#include "config/kind_in_plan.h"

// The parts of kInferenceInPlan (config/kind_in_plan.h), a file each.
namespace paceline::config {

// `infer` without options is a first look: it ends sooner than a case of a plan, and checks fewer inputs.
FlagSet with_first_look(const FlagSet& typed);

// Settings that follow from `gpus` and `devices` if not written: device: cuda, a scenario with a queue, and
// the number of devices.
void imply_gpus(WorkloadDraft& draft);

void check_inference(WorkloadDraft& draft);

// Works out the input shapes of a model file with the batch marked, and the batch sizes that follow
// (config/shapes.h), from what is written and from the file itself; and which integers are generated
// (config/inference/input_values.h). Those that stay 1 without a known meaning go to the remarks.
void settle_inputs(WorkloadDraft& draft);

std::vector<std::string> inference_reasons(const Case& item);

}  // namespace paceline::config
