// SPDX-License-Identifier: MIT
// The kind of workload that times a model's inference.
#pragma once
#include <memory>

#include "run/case/kind.h"

namespace paceline::run {

std::unique_ptr<KindInRun> make_inference(const KindTools& tools);

// Warns, before anything runs, of options of inference without effect.
void tell_inference_remarks(const config::Plan& plan, const std::vector<config::Case>& cases,
                            RunObserver& observer);

}  // namespace paceline::run
