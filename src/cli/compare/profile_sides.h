// SPDX-License-Identifier: MIT
// Recognises what the sides of a comparison are: runs, or profiles of one kind.
#pragma once
#include <string>
#include <vector>

#include "cli/profile/profile_source.h"
#include "compare/profiles.h"

namespace paceline::cli {

// The one kind of all sides; null: runs, whose reader says what is wrong with what is none. Throws
// Error(kUsage) that names two sides of different kinds.
const ProfileSource* common_source(const std::vector<std::string>& names);

// Throws Error(kUsage) for sides that are one folder, and Error(kData) for what cannot be read.
std::vector<compare::Profile> profile_sides(const ProfileSource& source,
                                            const std::vector<std::string>& names);

}  // namespace paceline::cli
