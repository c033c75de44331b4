// SPDX-License-Identifier: MIT
#pragma once
#include <paceline_onnx.pb.h>

// The ONNX format's messages: https://onnx.ai/onnx/repo-docs/IR.html
namespace paceline::onnx {
namespace proto = ::paceline_onnx;
}
