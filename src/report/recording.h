// SPDX-License-Identifier: MIT
#pragma once
#include "answer/answer.h"
#include "report/machine_course.h"

namespace paceline::report {

// A recording of paceline monitor: figures and courses of the machine.
answer::Answer answer_of(const MachineCourse& course);

}  // namespace paceline::report
