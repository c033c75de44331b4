// SPDX-License-Identifier: MIT
// The kind of workload that times collectives between ranks, a sweep over sizes each case.
#pragma once
#include <memory>
#include <vector>

#include "run/case/kind.h"

namespace paceline::run {

// Warns, before anything runs, of options without effect.
void tell_collective_remarks(const config::Plan& plan, const std::vector<config::Case>& cases,
                             RunObserver& observer);

std::unique_ptr<KindInRun> make_collective(const KindTools& tools);

}  // namespace paceline::run
