// SPDX-License-Identifier: MIT
#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>

#include "analysis/traces/attached_job.h"
#include "analysis/traces/attached_rounds.h"
#include "analysis/traces/rank_trace.h"
#include "attach/step_file.h"
#include "result/stored/rank_evidence.h"

// Disturbances of the ranks of an attached job, from the counters in their step files.
namespace paceline::analysis::traces {

// Growth of the counters between readings that have steady steps alone between them; of all, where no such
// ones exist.
CounterGrowth counter_growth(const attach::StepFile& file, const std::vector<Round>& rounds,
                             const std::vector<UnsteadyStep>& unsteady);

// Evidence about one rank. CPU time of other ranks that may use its CPUs is no other process's. What was not
// counted is missing.
result::RankEvidence evidence_of(const std::vector<RankTrace>& ranks, std::size_t rank);

// Whether it computes on CPUs that another rank may use, too. False if that was not noted.
bool shares_cpus(const std::vector<RankTrace>& ranks, std::size_t rank);

}  // namespace paceline::analysis::traces
