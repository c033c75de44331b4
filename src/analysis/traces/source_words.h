// SPDX-License-Identifier: MIT
#pragma once
#include <string>

#include "analysis/traces/rank_trace.h"

// How messages about a rank's steps name what they are read from: a trace, or a step file of `attach`.
namespace paceline::analysis::traces {

struct SourceWords {
  // Reasons without a figure.
  const char *no_loader, *no_forward, *no_backward, *no_optimizer, *no_communication, *only_queued;
  // Endings of "cannot tell …".
  const char *without_loader, *without_forward, *without_backward, *without_optimizer, *without_device;
  const char* of_one_rank;  // "the trace of rank"
  const char* more_steps;   // what to do, behind the number of steps
};
const SourceWords& source_words(const RankTrace& one);

}  // namespace paceline::analysis::traces
