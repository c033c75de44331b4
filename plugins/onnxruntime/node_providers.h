// SPDX-License-Identifier: MIT
// Which execution provider ran the nodes of a model, by ONNX Runtime's profile.
#pragma once
#include <span>
#include <string>
#include <string_view>

#include "onnxruntime/node_work.h"

namespace paceline::ort_plugin {

// As ONNX Runtime calls it, and likewise the others.
inline constexpr std::string_view kCpuProvider = "CPUExecutionProvider";

// "2 of 120 nodes ran on the CPU: NonZero, Shape; 3 of 120 nodes ran on CUDA: Gelu": those that another
// provider ran than the one asked for; empty where there are none. Error(kUnsupported) where it ran no node
// at all, unless the case may run elsewhere.
std::string nodes_elsewhere(std::string_view provider, bool may_run_elsewhere,
                            std::span<const ProfiledNode> nodes);

}  // namespace paceline::ort_plugin
