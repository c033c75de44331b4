// SPDX-License-Identifier: MIT
#pragma once
#include "attach/step_record.h"

namespace paceline::attach {

// Whether the process that writes the file of this header still runs. False where nobody can tell: it is of
// another host, or not to be seen from here.
bool is_running(const StepHeader& header);

}  // namespace paceline::attach
