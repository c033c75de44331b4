// SPDX-License-Identifier: MIT
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "config/case.h"
#include "config/workload_draft.h"

// Checks which options of training fit together.
namespace paceline::config {

// Model of `train` without one.
inline constexpr std::string_view kDefaultTrainingModel = "resnet50";

// Reports options that contradict each other.
void check_training(WorkloadDraft& draft);

// Resolves ddp.enabled for this many ranks: "on", "off", or "apart": several ranks that each train a model of
// their own, side by side.
std::string_view ddp_for(std::string_view asked, std::int64_t ranks);
bool runs_ddp(const Case& item);

// sgd, adamw or adam: as asked, else what suits the model.
std::string optimizer_of(const Case& item);

// Why a training case cannot run as asked; empty when it can.
std::vector<std::string> training_reasons(const Case& item);

}  // namespace paceline::config
