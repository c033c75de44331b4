// SPDX-License-Identifier: MIT
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "run/case/case_run.h"
#include "run/case/observer.h"
#include "run/schedule.h"

namespace paceline::run {

// Where measured process pairs allow no size of a ratio (methodology: A/B comparison), twice as many are
// planned, once: the cases are open again, and these are the slots that they lack. Ranks are left out: their
// processes on other hosts follow the first plan.
std::vector<TimedSlot> add_pairs(CaseRuns& cases, std::uint64_t seed,
                                 const std::vector<std::string>& resumed_utc, RunObserver& observer);

// The repetitions that the case has for its comparisons, of an earlier part of this run: as many, or twice.
std::int64_t planned_before(const CaseRun& c, std::int64_t before);

}  // namespace paceline::run
