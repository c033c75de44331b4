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

// An optimizer has stepped: `optimizer` is any address that tells it from others. False: the file is full, or
// closed.
bool optimizer_stepped(const void* optimizer);

// Marks an orderly end.
void end_recording();

}  // namespace paceline::attach
