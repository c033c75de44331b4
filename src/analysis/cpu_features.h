// SPDX-License-Identifier: MIT
// Explains why a precision can be slow on this CPU.
#pragma once
#include <optional>
#include <string>
#include <string_view>

#include "base/json.h"

namespace paceline::analysis {

// Whether the CPU of an environment record has a feature (/proc/cpuinfo names); empty when not recorded.
std::optional<bool> cpu_has(const nlohmann::json& environment, std::string_view feature);

// Why a precision can be slow on this CPU: "this CPU has no AMX"; empty when nothing is known.
std::string missing_precision_support(const nlohmann::json& environment, std::string_view precision);

}  // namespace paceline::analysis
