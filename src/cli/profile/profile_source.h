// SPDX-License-Identifier: MIT
// Recorded profiles by one table: how each kind is recognised, studied, and made a side of a comparison.
#pragma once
#include <cstdint>
#include <filesystem>
#include <string_view>

#include "answer/answer.h"
#include "compare/profiles.h"

namespace paceline::cli {

enum class SourceKind : std::uint8_t { kSteps, kKernels, kTimeline, kTraces };

struct ProfileSource {
  SourceKind kind;
  std::string_view words;  // "a trace of PyTorch"
  // By name and content; never throws.
  bool (*recognises)(const std::filesystem::path& path);
  // `kernels`: with the kernels of each operator, where there are some.
  answer::Answer (*answer)(const std::filesystem::path& path, bool kernels);
  compare::Profile (*side)(compare::Side side, const std::filesystem::path& path);
};

// Null: it is none of them, and may be a run.
const ProfileSource* profile_source(const std::filesystem::path& path);

// The answer of `profile --from`. A path of no known kind is read as traces, whose reader says what is wrong.
answer::Answer answer_of_profile(const std::filesystem::path& from, bool kernels);

}  // namespace paceline::cli
