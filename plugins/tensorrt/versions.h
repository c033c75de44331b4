// SPDX-License-Identifier: MIT
// Bridges what differs between the headers of TensorRT 8.6, 10 and 11. No other file asks for the version.
#pragma once
#include <NvInfer.h>
#include <NvOnnxParser.h>

#include <cstdint>
#include <string>

namespace paceline::tensorrt_plugin {

// Where a parser's error is; empty where the library does not say.
struct ErrorPlace {
  std::string type, node;  // operator and name of the node
};

#if NV_TENSORRT_MAJOR < 10

constexpr nvinfer1::NetworkDefinitionCreationFlags kNetworkFlags =
    1U << static_cast<unsigned>(nvinfer1::NetworkDefinitionCreationFlag::kEXPLICIT_BATCH);

constexpr auto kLastUnsupported = nvonnxparser::ErrorCode::kUNSUPPORTED_NODE;  // of the parser's codes

inline ErrorPlace place_of(const nvonnxparser::IParserError&) {
  return {};
}
inline std::int64_t activation_bytes(const nvinfer1::ICudaEngine& engine) {
  return static_cast<std::int64_t>(engine.getDeviceMemorySize());
}

// Networks are not strongly typed yet: a precision must be allowed, and each layer is held to its own.
inline void keep_precisions(const nvinfer1::INetworkDefinition& network, nvinfer1::IBuilderConfig& config) {
  config.setFlag(nvinfer1::BuilderFlag::kOBEY_PRECISION_CONSTRAINTS);
  for (std::int32_t i = 0; i < network.getNbLayers(); ++i) {
    auto& layer = *network.getLayer(i);
    const auto* output = layer.getOutput(0);
    if (!output) continue;
    const auto type = output->getType();
    if (type == nvinfer1::DataType::kHALF) config.setFlag(nvinfer1::BuilderFlag::kFP16);
    if (type == nvinfer1::DataType::kINT8) config.setFlag(nvinfer1::BuilderFlag::kINT8);
    if (type == nvinfer1::DataType::kHALF || type == nvinfer1::DataType::kFLOAT) layer.setPrecision(type);
  }
}

#else

#if NV_TENSORRT_MAJOR < 11
constexpr nvinfer1::NetworkDefinitionCreationFlags kNetworkFlags =
    1U << static_cast<unsigned>(nvinfer1::NetworkDefinitionCreationFlag::kSTRONGLY_TYPED);
#else
constexpr nvinfer1::NetworkDefinitionCreationFlags kNetworkFlags = 0;  // every network is strongly typed
#endif

constexpr auto kLastUnsupported = nvonnxparser::ErrorCode::kUNSUPPORTED_NODE_SHAPE;

inline ErrorPlace place_of(const nvonnxparser::IParserError& error) {
  const auto text = [](const char* words) { return std::string(words ? words : ""); };
  return {text(error.nodeOperator()), text(error.nodeName())};
}
inline std::int64_t activation_bytes(const nvinfer1::ICudaEngine& engine) {
  return engine.getDeviceMemorySizeV2();
}
inline void keep_precisions(const nvinfer1::INetworkDefinition&, nvinfer1::IBuilderConfig&) {}

#endif

}  // namespace paceline::tensorrt_plugin
