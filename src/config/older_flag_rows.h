// SPDX-License-Identifier: MIT
#pragma once
#include <array>
#include <span>

#include "config/older_flag.h"
#include "config/option.h"

// The rows of older_flags(), one source file for each group of tools.
namespace paceline::config {

inline constexpr std::string_view kAlwaysThere =
    "nothing; p50, p90, p95 and p99 are in a result where its samples carry them";

std::span<const OlderFlag> flags_of_inference_tools();
std::span<const OlderFlag> flags_of_trtexec();
std::span<const OlderFlag> flags_of_training_tools();
std::span<const OlderFlag> flags_of_nccl_tests();

inline constexpr std::array kFlagsOfTools{flags_of_inference_tools, flags_of_trtexec, flags_of_training_tools,
                                          flags_of_nccl_tests};

}  // namespace paceline::config
