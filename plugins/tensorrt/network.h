// SPDX-License-Identifier: MIT
#pragma once
#include <NvInfer.h>
#include <NvOnnxParser.h>

#include <memory>
#include <string>

#include "tensorrt/library.h"
#include "tensorrt/message_log.h"

namespace paceline::tensorrt_plugin {

// A model as the builder takes it. Strongly typed: every precision is that of the file.
struct Network {
  std::unique_ptr<nvinfer1::INetworkDefinition> definition;
  std::unique_ptr<nvonnxparser::IParser> parser;  // owns the weights
};

// Throws Error(kUnsupported) naming the operators that the library does not have and their nodes,
// Error(kData) for a file that is no model.
Network read_network(const Library& library, nvinfer1::IBuilder& builder, MessageLog& log,
                     const std::string& onnx_file);

// Types that the layers put out, with their number: "float32 61, int8 108".
std::string layer_types(const nvinfer1::INetworkDefinition& definition);

}  // namespace paceline::tensorrt_plugin
