// SPDX-License-Identifier: MIT
#pragma once
#include <NvInfer.h>

#include <map>
#include <sstream>
#include <string>
#include <vector>

// What the double takes for a model and keeps in its plans: lines of words.
//   input x float -1 3 8      output y float
//   layer conv float          unsupported NonZero nz_3 no such operator      nonsense
//   build_error words…        load_error words…           data_dependent      inspector {"Layers": […]}
//   no_graph (cannot be recorded)                        layer_ms 0.25 9 … (of conv1, one an inference, then
//   again) profile x min 1 3 8 opt 2 3 8 max 4 3 8               (of plans: one line a profile and input)
namespace fake {

inline nvinfer1::DataType type_of(const std::string& word) {
  static const std::map<std::string, nvinfer1::DataType> types{{"float", nvinfer1::DataType::kFLOAT},
                                                               {"half", nvinfer1::DataType::kHALF},
                                                               {"int8", nvinfer1::DataType::kINT8},
                                                               {"int64", nvinfer1::DataType::kINT64},
                                                               {"fp8", nvinfer1::DataType::kFP8}};
  return types.at(word);
}

struct Tensor : nvinfer1::ITensor {
  std::string name;
  std::string type;
  nvinfer1::Dims dims{};
  nvinfer1::DataType getType() const noexcept override { return type_of(type); }
};

struct Layer : nvinfer1::ILayer {
  Tensor output;
  nvinfer1::ITensor* getOutput(std::int32_t) const noexcept override { return const_cast<Tensor*>(&output); }
};

struct Network : nvinfer1::INetworkDefinition {
  std::vector<std::string> lines;  // the model as it was read
  std::vector<Tensor> inputs;
  std::vector<Layer> layers;
  bool strongly_typed = NV_TENSORRT_MAJOR >= 11;
  std::int32_t getNbLayers() const noexcept override { return static_cast<std::int32_t>(layers.size()); }
  nvinfer1::ILayer* getLayer(std::int32_t i) const noexcept override {
    return const_cast<Layer*>(&layers.at(static_cast<std::size_t>(i)));
  }
  std::int32_t getNbInputs() const noexcept override { return static_cast<std::int32_t>(inputs.size()); }
};

// "x float -1 3" behind the first word.
inline Tensor read_tensor(std::istream& words) {
  Tensor tensor;
  words >> tensor.name >> tensor.type;
  for (std::int64_t extent = 0; words >> extent;) tensor.dims.d[tensor.dims.nbDims++] = extent;
  return tensor;
}

inline std::string rest_of(std::istream& words) {
  std::string text;
  std::getline(words >> std::ws, text);
  return text;
}

}  // namespace fake
