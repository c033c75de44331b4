// SPDX-License-Identifier: MIT
#pragma once
#include <algorithm>
#include <array>
#include <string_view>

namespace paceline {

// A precision by its name in training, and the engines' name for the same arithmetic.
struct TrainingPrecision {
  std::string_view name, engine_name;
};

inline constexpr std::array kTrainingPrecisions{
    TrainingPrecision{"fp32", "fp32"},
    TrainingPrecision{"tf32", "tf32"},
    TrainingPrecision{"amp", "amp_fp16"},
    TrainingPrecision{"bf16", "amp_bf16"},
};

// Null for other names.
constexpr const TrainingPrecision* find_training_precision(std::string_view name) {
  const auto* row = std::find_if(kTrainingPrecisions.begin(), kTrainingPrecisions.end(),
                                 [&](const TrainingPrecision& p) { return p.name == name; });
  return row == kTrainingPrecisions.end() ? nullptr : row;
}

}  // namespace paceline
