// SPDX-License-Identifier: MIT
// Parses an ONNX file into a TensorRT network, and words the parser's errors.
#pragma once
#include <NvInfer.h>
#include <NvOnnxParser.h>

#include <memory>
#include <string>

#include "tensorrt/library.h"
#include "tensorrt/message_log.h"

namespace paceline::tensorrt_plugin {

// A model in the builder's form. It is strongly typed: every precision is that of the file.
struct Network {
  std::unique_ptr<nvinfer1::INetworkDefinition> definition;
  std::unique_ptr<nvonnxparser::IParser> parser;  // owns the weights
};

// Throws Error(kUnsupported) naming operators that the library does not have and their nodes, Error(kData)
// for a file that is not a model.
Network read_network(const Library& library, nvinfer1::IBuilder& builder, MessageLog& log,
                     const std::string& onnx_file);

// Output types of the layers with their numbers: "float32 61, int8 108".
std::string layer_types(const nvinfer1::INetworkDefinition& definition);

}  // namespace paceline::tensorrt_plugin
