// SPDX-License-Identifier: MIT
// Which shared objects a process runs, and whether they are still the same files.
#pragma once
#include <set>
#include <string>

#include "base/json.h"

namespace paceline::host {

// Each file with what it is now: number, size, and when content and state last changed; null where there is
// none.
nlohmann::json states_of(const std::set<std::string>& files);

// The states of the shared objects of this process, and of the list that the loader finds them by.
nlohmann::json loaded_objects();

// The first of these files that has another state now; empty: none.
std::string changed_file(const nlohmann::json& states);

}  // namespace paceline::host
