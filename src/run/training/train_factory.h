// SPDX-License-Identifier: MIT
#pragma once
#include <string>
#include <vector>

#include "config/plan.h"
#include "pass/pass.h"
#include "result/stored/case_result.h"

// From the settings of a training case to what its ranks need. Pure.
namespace paceline::run {

// Properties of the place where the case runs.
struct TrainPlace {
  int threads = 1;             // of a rank, where the case does not say
  std::string device = "cpu";  // cpu | cuda: what device: auto means here
  bool alone = true;  // the only case of its run: others keep their checkpoints in folders of their own
};

// The pass of every rank but for rank, files, cores and rendezvous. The plug-in is the torch one.
pass::PassSpec train_pass(const config::Case& c, const TrainPlace& place);

// Samples that one step takes on all ranks together.
std::int64_t samples_per_step(const config::Case& c);

// Work per sample and step: the forward pass, and a backward pass of twice its work.
result::Flops training_flops(const config::Case& c);

// Describes what was asked for and has no effect here, and further remarks for readers of the figures.
std::vector<std::string> training_notes(const config::Case& c, const std::string& device);

// That the ranks of rank 0's host have more threads than they have cores together; empty: they have not.
std::string crowding_note(const result::Training& training);

}  // namespace paceline::run
