// SPDX-License-Identifier: MIT
// Result of a collective case, from its times.
#pragma once
#include "run/case/kind_rules.h"

namespace paceline::run {

const KindRules& collective_rules();

}  // namespace paceline::run
