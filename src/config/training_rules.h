// SPDX-License-Identifier: MIT
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "config/plan.h"

// What options of training mean together.
namespace paceline::config {

// A mistake in a training workload: which option, and what is wrong with it.
struct Mistake {
  std::string option;
  std::string message;
};
std::vector<Mistake> training_mistakes(const Settings& settings);

// What a value of ddp.enabled comes to for so many ranks: "on", "off", or empty where it cannot be.
std::string_view ddp_for(std::string_view asked, std::int64_t ranks);
bool runs_ddp(const Case& item);

// sgd or adamw: as asked, or what suits the model.
std::string optimizer_of(const Case& item);

// Why a training case cannot be run as asked; empty: it can.
std::vector<std::string> training_reasons(const Case& item);

}  // namespace paceline::config
