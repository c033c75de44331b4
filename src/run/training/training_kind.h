// SPDX-License-Identifier: MIT
// The kind of workload that times the steps of ranks that train together.
#pragma once
#include <memory>

#include "run/case/kind.h"

namespace paceline::run {

std::unique_ptr<KindInRun> make_training(const KindTools& tools);

}  // namespace paceline::run
