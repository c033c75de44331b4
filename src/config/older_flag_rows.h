// SPDX-License-Identifier: MIT
#pragma once
#include <array>
#include <span>

#include "config/older_flag.h"
#include "config/option.h"

// Flags and values of other tools, one source file for each group of tools.
namespace paceline::config {

inline constexpr std::string_view kAlwaysThere =
    "nothing; p50, p90, p95 and p99 are in a result where its samples carry them";

std::span<const OlderFlag> flags_of_inference_tools();
std::span<const OlderValue> values_of_inference_tools();
std::span<const OlderFlag> flags_of_trtexec();
std::span<const OlderFlag> flags_of_training_tools();
std::span<const OlderValue> values_of_training_tools();
std::span<const OlderFlag> flags_of_nccl_tests();
std::span<const OlderValue> values_of_nccl_tests();

struct ToolRows {
  std::span<const OlderFlag> (*flags)();
  std::span<const OlderValue> (*values)() = [] { return std::span<const OlderValue>(); };
};
inline constexpr std::array kOlderTools{ToolRows{flags_of_inference_tools, values_of_inference_tools},
                                        ToolRows{flags_of_trtexec},
                                        ToolRows{flags_of_training_tools, values_of_training_tools},
                                        ToolRows{flags_of_nccl_tests, values_of_nccl_tests}};

}  // namespace paceline::config
