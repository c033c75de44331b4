// SPDX-License-Identifier: MIT
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "config/plan.h"

// Checks which options of training fit together.
namespace paceline::config {

// The option and value that would mend a mistake, as a plan has them (a list in brackets).
struct Addition {
  std::string_view option;
  std::string_view value;
};

// "; add scenario: server", or "; add --scenario server" where the mistake is on the command line; empty
// without an option.
std::string addition_text(const Place& place, const Addition& addition);

// A mistake in a training workload: the option, what is wrong, and what to add.
struct Mistake {
  std::string option;
  std::string message;
  Addition add{};
};
std::vector<Mistake> training_mistakes(const Settings& settings);

// What ddp.enabled means for this many ranks: "on", "off", or "apart": several ranks that each train
// a model of their own, side by side.
std::string_view ddp_for(std::string_view asked, std::int64_t ranks);
bool runs_ddp(const Case& item);

// sgd, adamw or adam: as asked, else what suits the model.
std::string optimizer_of(const Case& item);

// Why a training case cannot run as asked; empty when it can.
std::vector<std::string> training_reasons(const Case& item);

}  // namespace paceline::config
