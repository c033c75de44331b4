// SPDX-License-Identifier: MIT
// `validate --hosts`: what differs between hosts, and which of them is the outlier.
#pragma once
#include "cli/answer_output.h"
#include "cli/context.h"
#include "config/settings.h"

namespace paceline::cli {

// 5 where a host gave no answer, 4 where one fails.
ExitCode validate_fleet(const config::Settings& options, const AnswerOutput& output, const Console& console);

}  // namespace paceline::cli
