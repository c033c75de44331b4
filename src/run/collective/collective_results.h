// SPDX-License-Identifier: MIT
// What becomes of the times of a collective case.
#pragma once
#include "run/case/kind_rules.h"

namespace paceline::run {

const KindRules& collective_rules();

}  // namespace paceline::run
