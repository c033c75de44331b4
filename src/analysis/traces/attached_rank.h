// SPDX-License-Identifier: MIT
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "analysis/traces/rank_trace.h"
#include "attach/step_file.h"

namespace paceline::analysis::traces {

// Steps of one rank, from the file that the library inside its process wrote. Throws Error(kData) when
// nothing in it tells steps apart.
RankTrace attached_rank(const attach::StepFile& file);

}  // namespace paceline::analysis::traces
