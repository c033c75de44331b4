// SPDX-License-Identifier: MIT
// Turns settings into OpenVINO's properties and reads what the compiled model reports.
#pragma once
#include <openvino/runtime/core.hpp>
#include <string>
#include <utility>
#include <vector>

#include "plugin/engine.h"

namespace paceline::openvino_plugin {

inline constexpr const char* kDevice = "CPU";

// All settings are explicit: threads, streams, pinning, and above all the precision, which OpenVINO otherwise
// chooses (bf16 where the CPU has it). Error(kUnsupported) for bf16 on a CPU without it, Error(kUsage) for an
// unknown option or value. Where fp32 is asked for, activations are never rounded to 8 bits.
ov::AnyMap compile_options(ov::Core& core, const plugin::EngineSettings& settings);

// Without such rounding, and whether a compiled model may round.
ov::AnyMap without_rounding(ov::AnyMap options);
bool has_rounding(const ov::CompiledModel& model);

// The settings that the compiled model reports.
std::vector<std::pair<std::string, std::string>> effective_settings(const ov::CompiledModel& model);

}  // namespace paceline::openvino_plugin
