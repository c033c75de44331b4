// SPDX-License-Identifier: MIT
// The passes that drive one engine, one inference at a time.
#pragma once
#include <atomic>

#include "workload/inference/pass_parts.h"

namespace paceline::workload {

// Each runs in this process and reports phases, what was read back and samples to `sink`. All throw Error.
void run_describe(const pass::PassSpec& spec, TaggedSink& sink);
void run_inspect(const pass::PassSpec& spec, TaggedSink& sink);
void run_reference(const pass::PassSpec& spec, TaggedSink& sink);
void run_check(const pass::PassSpec& spec, TaggedSink& sink);
// `interrupt`, set by a signal handler, ends the loop between two iterations; nothing is reported then.
void run_timed(const pass::PassSpec& spec, TaggedSink& sink, const std::atomic<bool>& interrupt);

}  // namespace paceline::workload
