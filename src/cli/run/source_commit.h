// SPDX-License-Identifier: MIT
// Asks git which commit the user's sources are at.
#pragma once
#include <string>

#include "base/json.h"

namespace paceline::cli {

// The commit of the current folder, else of the folder of the plan, as {"commit", "modified"}; what is not
// known is null with a reason. Null without git or a work tree of this user, and where git takes longer than
// a few seconds. No hook, filter or program of the repository runs.
nlohmann::json source_commit(const std::string& plan_file);

}  // namespace paceline::cli
