// SPDX-License-Identifier: MIT
// What the passes of a training case become in its result.
#pragma once
#include "run/case/kind_rules.h"

namespace paceline::run {

const KindRules& training_rules();

}  // namespace paceline::run
