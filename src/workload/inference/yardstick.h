// SPDX-License-Identifier: MIT
#pragma once
#include <functional>
#include <string>

#include "pass/pass.h"
#include "plugin/engine.h"
#include "workload/inference/gate/compared_outputs.h"

// Measures, beside the reference, what little changes do to its outputs. Errors are judged in that unit
// (docs/methodology.md, "Accuracy").
namespace paceline::workload {

using ReportPhase = std::function<void(const std::string&)>;

// Adds the yardstick of every output that can be compared: the inputs move by one unit in the last place, and
// one layer on the way to the output, else the inputs, is rounded to bfloat16. With every change (or where
// inputs give no unit) all weights move, too, and sums run in another order (in float64 where the engine
// can). `took_ns` is what the outputs took: a slow model repeats its first inputs only, at least four. What
// the engine does not take is left out. `phase` hears what begins.
void add_yardsticks(ComparedOutputs& outputs, const pass::PassSpec& spec, plugin::Engine& engine,
                    double took_ns, const ReportPhase& phase);

}  // namespace paceline::workload
