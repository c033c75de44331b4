// SPDX-License-Identifier: MIT
#pragma once
#include <string>

#include "onnx/proto.h"

namespace paceline::onnx {

// Throws Error(kData) naming the file and what is wrong with it: a tensor whose shape is impossible or whose
// numbers are not all there, or nodes that need their own results. Graphs inside nodes count too.
void check_graph(const proto::GraphProto& graph, const std::string& file);

}  // namespace paceline::onnx
