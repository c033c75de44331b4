// SPDX-License-Identifier: MIT
// Output of --dry-run: the cases of a plan, and what is known of them before anything runs.
#pragma once
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "config/plan.h"
#include "run/case/kind_rules.h"
#include "run/stored_speeds.h"

namespace paceline::cli {

struct Outlook {
  const config::Case* one = nullptr;
  run::Outlook known{};
  std::optional<run::StoredSpeed> stored{};
};
// On this machine. `hosts`: of the launch.
std::vector<Outlook> outlook_of(const std::vector<config::Case>& cases, const run::EngineDirectory& engines,
                                int hosts, const run::StoredSpeeds& speeds);

// For programs: number, id, seconds or the reason for a skip or refusal, memory, and the sum.
nlohmann::json dry_run_json(const std::string& experiment, const std::vector<Outlook>& cases);

// The numbered list of cases with estimates, memory, skips and refusals.
std::string dry_run_text(const std::vector<Outlook>& cases);

}  // namespace paceline::cli
