// SPDX-License-Identifier: MIT
#pragma once

namespace paceline::stats {

// Two-sided critical value of Student's t distribution: student_t(19, 0.95) = 2.093.
double student_t(double degrees_of_freedom, double confidence);

// P(T >= t).
double student_t_above(double degrees_of_freedom, double t);

}  // namespace paceline::stats
