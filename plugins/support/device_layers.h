// SPDX-License-Identifier: MIT
// Turns calls that a profiler saw during inferences on a device into layers with the device's times.
#pragma once
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "plugin/engine.h"
#include "support/profiled_calls.h"

namespace paceline::plugin_support {

// Facts of an operator that the model calls itself, which a profiler does not see.
struct OperatorFacts {
  std::string name;       // aten::conv2d
  std::string precision;  // of its arithmetic; empty: not known
  std::string layer;      // the model's name for it; empty: not known
};

// Layers of inferences, each of which is a scope among `calls`; calls outside of scopes do not count.
//
// A layer is an outermost operator, with the kernels and copies that it or an operator inside it started, or
// a kernel that no operator started, as those of a CUDA graph. Layers are in order of execution, and their
// times are sums over kernels: together they are the device's busy time, or more where streams overlap.
// Operators without work on the device are no layers. Each time is the median over the inferences.
//
// Without any work on a device layers are operators with the host's times, and the source says so. Throws
// Error(kUnsupported) with the reason if inferences ran different layers, or if kernels were not seen.
// `facts` are those of all outermost operators of one inference, in order; they are left out if the profiler
// saw others.
plugin::LayerTimes device_layers(std::vector<ProfiledCall> calls, std::span<const OperatorFacts> facts);

// Type of work on the device by the name that CUPTI gives it: copy, memset or kernel.
std::string_view kind_of_work(std::string_view name);

}  // namespace paceline::plugin_support
