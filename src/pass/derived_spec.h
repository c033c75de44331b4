// SPDX-License-Identifier: MIT
// Specs that follow from a spec: that of one instance of several, and that for the precision that ran.
#pragma once
#include <string>

#include "pass/pass.h"
#include "result/stored/case_result.h"

namespace paceline::pass {

// The spec for instance `index` of spec.inference.load.instances: its part of the CPUs and its device, where
// instances have devices of their own. The engine, which counts devices, refuses one that does not exist.
PassSpec spec_of_instance(const PassSpec& spec, std::int64_t index);

// The precision with the largest share of the work; empty where the engine cannot tell.
std::string dominant_precision(const result::PrecisionReadBack& read_back);

// Applies the row of `spec.limits` for that precision; changes nothing where there is no such row.
void use_limits(InferenceSpec& spec, const std::string& precision);

}  // namespace paceline::pass
