// SPDX-License-Identifier: MIT
#pragma once
#include <openvino/runtime/core.hpp>
#include <string>
#include <utility>
#include <vector>

#include "plugin/engine.h"

namespace paceline::openvino_plugin {

inline constexpr const char* kDevice = "CPU";

// Everything explicit: threads, streams, pinning, and above all the precision, without which OpenVINO picks
// one by itself (bf16 where the CPU has it). Error(kUnsupported) for bf16 on a CPU without it, Error(kUsage)
// for an option or a value it does not know.
ov::AnyMap compile_options(ov::Core& core, const plugin::EngineSettings& settings);

// What the compiled model says of its settings.
std::vector<std::pair<std::string, std::string>> effective_settings(const ov::CompiledModel& model);

}  // namespace paceline::openvino_plugin
