// SPDX-License-Identifier: MIT
// Keeps the request of a search beside its run, for --resume.
#pragma once
#include <filesystem>

#include "cli/tune/tune_request.h"

namespace paceline::cli {

void keep_search(const std::filesystem::path& folder, const TuneRequest& request);

// With --resume among the words: takes what that search was asked for, but for options that are
// typed now. Throws Error(kUsage) for a folder that has none, and for options that would need a new search.
void take_stored_search(TuneRequest& request);

}  // namespace paceline::cli
