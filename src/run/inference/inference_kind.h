// SPDX-License-Identifier: MIT
// The kind of workload that times a model's inference.
#pragma once
#include <memory>

#include "run/case/kind.h"

namespace paceline::run {

std::unique_ptr<KindInRun> make_inference(const KindTools& tools);

}  // namespace paceline::run
