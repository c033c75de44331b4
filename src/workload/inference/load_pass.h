// SPDX-License-Identifier: MIT
#pragma once
#include <atomic>
#include <functional>
#include <memory>

#include "workload/inference/pass_parts.h"
#include "workload/inference/service.h"

namespace paceline::workload {

// The timed pass of closed_loop, offline and server: one engine per lane, side by side in this process.
void run_load_pass(const pass::PassSpec& spec, TaggedSink& sink, const std::atomic<bool>& interrupt);

// The same with any service, which is made after the calibration.
using MakeService = std::function<std::unique_ptr<Service>(const measure::HostWaitingClock& clock,
                                                           const measure::LoopHooks& hooks)>;
void run_load_pass(const pass::PassSpec& spec, TaggedSink& sink, const std::atomic<bool>& interrupt,
                   const MakeService& make);

}  // namespace paceline::workload
