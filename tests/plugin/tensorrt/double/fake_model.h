// SPDX-License-Identifier: MIT
#pragma once
#include <NvInfer.h>

#include <map>
#include <sstream>
#include <string>
#include <vector>

// Models of the double, also in its plans: lines of words.
//   input x float -1 3 8             input n int64 2 host          an input; host: it is in the host's memory
//   output y float                   twice the input of the same place, else the first
//   output y float of b              twice this input
//   output y float shaped_by n       its shape is what the host's input n holds
//   layer conv float                 unsupported NonZero nz_3 no such operator      nonsense
//   build_error words…               load_error words…
//   data_dependent                   the outputs' first dimension is not known before a run
//   no_graph                         it cannot be recorded
//   kernel_ms 2                      what a run takes on the device's clock; 2 unless it is told
//   launch_ms 1                      what enqueueing a run takes on the host's clock; 0 unless it is told
//   kernel_error 719 3               the third run of a context ends so, after it was enqueued
//   refuse_enqueue 3                 the third run of a context is not enqueued
//   inspector {"Layers": […]}        inspector none: no text
//   layer_ms 0.25 9 …                of conv1, for the profiler: one per inference, then again from the first
//   profile x min 1 3 8 opt 2 3 8 max 4 3 8       in plans: one line per profile and input
namespace fake {

inline nvinfer1::DataType type_of(const std::string& word) {
  static const std::map<std::string, nvinfer1::DataType> types{
      {"float", nvinfer1::DataType::kFLOAT}, {"half", nvinfer1::DataType::kHALF},
      {"int8", nvinfer1::DataType::kINT8},   {"int32", nvinfer1::DataType::kINT32},
      {"int64", nvinfer1::DataType::kINT64}, {"fp8", nvinfer1::DataType::kFP8}};
  return types.at(word);
}

struct Tensor : nvinfer1::ITensor {
  std::string name;
  std::string type;
  nvinfer1::Dims dims{};
  bool on_host = false;
  std::string of, shaped_by;  // inputs
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

// "x float -1 3 host" behind the first word.
inline Tensor read_tensor(std::istream& words) {
  Tensor tensor;
  words >> tensor.name >> tensor.type;
  for (std::string word; words >> word;)
    if (word == "host")
      tensor.on_host = true;
    else if (word == "of")
      words >> tensor.of;
    else if (word == "shaped_by")
      words >> tensor.shaped_by;
    else
      tensor.dims.d[tensor.dims.nbDims++] = std::stoll(word);
  return tensor;
}

inline std::int64_t count_of(const nvinfer1::Dims& dims) {
  std::int64_t count = 1;
  for (int i = 0; i < dims.nbDims; ++i) count *= dims.d[i];
  return count;
}

inline std::size_t size_of(nvinfer1::DataType type) {
  return type == nvinfer1::DataType::kINT64 ? 8 : 4;  // of the types that are computed with
}

inline std::string rest_of(std::istream& words) {
  std::string text;
  std::getline(words >> std::ws, text);
  return text;
}

}  // namespace fake
