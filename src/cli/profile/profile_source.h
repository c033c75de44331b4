// SPDX-License-Identifier: MIT
// Recorded profiles by one table: how each kind is recognised, studied, and made a side of a comparison.
#pragma once
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "answer/answer.h"
#include "compare/profiles.h"

namespace paceline::cli {

// Wishes for the answer besides the study.
struct ProfileWishes {
  bool kernels = false;             // of each operator, where there are some
  std::vector<std::string> expect;  // gates on the figures of a training job
};

enum class SourceKind : std::uint8_t { kSteps, kKernels, kTimeline, kTraces };

struct ProfileSource {
  SourceKind kind;
  std::string_view words;  // "a trace of PyTorch"
  // By name and content; never throws.
  bool (*recognises)(const std::filesystem::path& path);
  answer::Answer (*answer)(const std::filesystem::path& path, const ProfileWishes& wishes);
  compare::Profile (*side)(compare::Side side, const std::filesystem::path& path);
};

// Null: it is none of them, and may be a run.
const ProfileSource* profile_source(const std::filesystem::path& path);

// The answer of `profile --from`. A path of no known kind is read as traces, whose reader says what is wrong.
// Throws Error(kUsage) for a gate that cannot be decided on it.
answer::Answer answer_of_profile(const std::filesystem::path& from, const ProfileWishes& wishes);

}  // namespace paceline::cli
