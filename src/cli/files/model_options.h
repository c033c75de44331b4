// SPDX-License-Identifier: MIT
#pragma once
#include <string>

#include "cli/context.h"
#include "config/settings.h"
#include "run/artefacts/model_order.h"

// Options that `export` and `build` share: --model with its weights, and int8.
namespace paceline::cli {

// Replaces a family in --model ("bert") by the folder of --weights.
void settle_model(config::Settings& options);

// Throws Error(kUsage) with an example when an option is not set.
std::string required(const config::Settings& options, const char* name, const char* example);

// Writes the model in the precision asked for (int8, fp16). Warns of random calibration, and prints how much
// each layer loses where that is asked for.
pass::PreparedFile write_in_precision(run::ModelOrder& order, const config::Settings& options,
                                      const plugin::ModelSpec& model, const std::string& engine,
                                      const std::string& file, const Console& console);

// ", 54 layers in int8 (…)", empty where nothing was quantised.
std::string quantisation_text(const result::Quantisation& q);

}  // namespace paceline::cli
