// SPDX-License-Identifier: MIT
#pragma once
#include "config/plan.h"
#include "pass/pass.h"
#include "result/stored/case_result.h"

// From the settings of a case to what a worker needs. Pure but for the shapes it looks up.
namespace paceline::run {

// The timed pass of a case but for its files, repetition and pinning. threads 0 means `default_threads`.
pass::PassSpec base_pass(const config::Case& c, int default_threads);

// Sums all lanes of a case.
int all_threads(const pass::PassSpec& base);

// The check pass of a case but for its files: at the batch that the timed pass loads the model for.
pass::PassSpec check_pass(const pass::PassSpec& base);

// For the outputs after the timed loop, one an output: where something else than the largest error decided,
// the errors may be twice those that passed the check.
std::vector<pass::Tolerance> timed_tolerances(const pass::Tolerance& tolerance,
                                              const result::Correctness& checked);

// The pass that times the case's layers.
pass::PassSpec profile_pass(const config::Case& c, const pass::PassSpec& base);

// Seconds that a worker of the case may take.
double timeout_of(const config::Case& c);

}  // namespace paceline::run
