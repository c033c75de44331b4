// SPDX-License-Identifier: MIT
#include "config/inference/arrivals.h"

#include <algorithm>

#include "config/option_table.h"

namespace paceline::config {

std::string schedule_file(const Settings& settings) {
  constexpr const char* kArrival = "server.arrival";
  if (!settings.has(kArrival)) return {};
  const auto& text = settings.text(kArrival);
  const auto choices = find_option(kArrival, kind_bit(WorkloadKind::kInference))->choices;
  const bool drawn = std::ranges::find(choices, text, &Choice::name) != choices.end();
  return drawn ? std::string() : text;
}

}  // namespace paceline::config
