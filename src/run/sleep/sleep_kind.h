// SPDX-License-Identifier: MIT
// The kind of workload that sleeps for a known time: a truth by which a machine and this tool can be judged,
// and the smallest example of a kind.
#pragma once
#include <memory>

#include "run/case/kind.h"
#include "run/case/kind_rules.h"

namespace paceline::run {

const KindRules& sleep_rules();
std::unique_ptr<KindInRun> make_sleep(const KindTools& tools);

}  // namespace paceline::run
