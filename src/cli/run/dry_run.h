// SPDX-License-Identifier: MIT
// Output of --dry-run: the cases of a plan, and what is known of them before anything runs.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "answer/answer.h"
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

// The numbered cases with their durations, memory, skips and refusals. Data: number, id, seconds or the
// reason for a skip or refusal, memory, and the sum.
answer::Answer planned_answer(const std::string& experiment, const std::vector<Outlook>& cases);

}  // namespace paceline::cli
