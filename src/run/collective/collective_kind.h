// SPDX-License-Identifier: MIT
// The kind of workload that times collectives between ranks, a sweep over sizes each case.
#pragma once
#include <memory>

#include "run/case/kind.h"

namespace paceline::run {

std::unique_ptr<KindInRun> make_collective(const KindTools& tools);

}  // namespace paceline::run
