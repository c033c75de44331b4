// SPDX-License-Identifier: MIT
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "config/plan.h"

// What options of training mean together.
namespace paceline::config {

// What would mend a mistake: an option and a value, as a plan has them (a list in brackets).
struct Addition {
  std::string_view option;
  std::string_view value;
};

// "; add scenario: server", or "; add --scenario server" where the mistake is on the command line; empty
// without an option.
std::string addition_text(const Place& place, const Addition& addition);

// A mistake in a training workload: which option, what is wrong with it, and what to add.
struct Mistake {
  std::string option;
  std::string message;
  Addition add{};
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
