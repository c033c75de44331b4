// SPDX-License-Identifier: MIT
// Peaks that are kept between runs: a file of the user's cache folder, by what they belong to.
#pragma once
#include <filesystem>
#include <string>

#include "base/json.h"

namespace paceline::run {

std::filesystem::path peak_cache_file();
// An object; empty where the file cannot be read.
nlohmann::json read_peak_cache();
// A cache is a convenience: a read-only home must not end a run.
void keep_in_peak_cache(const std::string& key, nlohmann::json entry);

}  // namespace paceline::run
