// SPDX-License-Identifier: MIT
// Result of a training case, from its passes.
#pragma once
#include "run/case/kind_rules.h"

namespace paceline::run {

const KindRules& training_rules();

}  // namespace paceline::run
