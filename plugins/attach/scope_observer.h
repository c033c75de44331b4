// SPDX-License-Identifier: MIT
#pragma once
#include <cstdint>
#include <string>

#include "attach/block_schedule.h"
#include "attach/step_record.h"

// Recording of PyTorch's own scopes. One per process; no function throws.
namespace paceline::attach {

// Makes the file and begins to record. Returns why that is not possible; empty if it is.
std::string begin_recording(const std::string& path, const StepHeader& header, const BlockSchedule& schedule);

// The step that follows: not recorded, since the file is full or closed; recorded; or to be traced, too.
// kSame: the optimizer is one of several that make a step, which goes on.
enum class Next : int { kNothing = 0, kStep = 1, kTraced = 2, kSame = 3 };

// An optimizer has stepped: `optimizer` is any address that tells it from others.
Next optimizer_stepped(const void* optimizer);

// Number of the trace that was asked for last.
std::uint64_t trace_number();

// Marks an orderly end.
void end_recording(const char* exception);

}  // namespace paceline::attach
