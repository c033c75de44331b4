// SPDX-License-Identifier: MIT
// How far this machine tells equal sides apart, from comparisons of a side with itself (methodology: A/B
// comparison): a margin is at least twice that.
#pragma once
#include <filesystem>
#include <optional>
#include <string>

#include "compare/comparison.h"

namespace paceline::compare {

// Adds the intervals of a comparison of equal sides to the file; the newest 20 per host and pairing stay.
// A file that is damaged is begun again. Throws Error(kIo) if it cannot be written.
void keep_equal_sides(const std::filesystem::path& file, const std::string& host,
                      const Comparison& comparison);

// Median half-width of those intervals, as a share; nothing where none is kept.
std::optional<double> equal_halfwidth(const std::filesystem::path& file, const std::string& host,
                                      Pairing pairing);

}  // namespace paceline::compare
