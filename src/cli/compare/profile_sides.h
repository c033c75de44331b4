// SPDX-License-Identifier: MIT
// Recognises what the sides of a comparison are: runs, traces of PyTorch, or files of NVIDIA's profilers.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "compare/profiles.h"

namespace paceline::cli {

enum class SideKind : std::uint8_t { kRun, kTraces, kKernels, kTimeline };

// By name and content; what is neither is taken for a run, whose reader says what is wrong with it.
SideKind side_kind(const std::string& name);

// The one kind of all sides. Throws Error(kUsage) that names two sides of different kinds.
SideKind common_kind(const std::vector<std::string>& names);

// Throws Error(kUsage) for sides that are one folder, and Error(kData) for what cannot be read.
std::vector<compare::Profile> profile_sides(const std::vector<std::string>& names);

}  // namespace paceline::cli
