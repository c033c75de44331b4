// SPDX-License-Identifier: MIT
#include "config/inference/inference_in_plan.h"

#include "config/inference/folder_weights.h"

namespace paceline::config {
namespace {

// The mode of the warm-up follows from its length, and the other way round.
void settle_warmup(WorkloadDraft& d) {
  if (!d.settings.has("warmup.mode")) return;
  if (d.written("warmup_iterations") && !d.written("warmup.mode"))
    d.settings.set("warmup.mode", std::string("fixed"));
  if (d.is("warmup.mode", "fixed") && !d.settings.has("warmup_iterations"))
    d.settings.set("warmup_iterations", std::int64_t{10});
}

}  // namespace

constexpr KindInPlan kInferenceInPlan{.complete_flags = with_first_look,
                                      .imply =
                                          [](WorkloadDraft& draft) {
                                            imply_gpus(draft);
                                            imply_folders(draft);
                                          },
                                      .check = check_inference,
                                      .settle =
                                          [](WorkloadDraft& draft) {
                                            settle_warmup(draft);
                                            settle_inputs(draft);
                                          },
                                      .reasons = inference_reasons};

}  // namespace paceline::config
