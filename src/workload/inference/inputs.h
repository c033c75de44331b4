// SPDX-License-Identifier: MIT
#pragma once
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "base/tensor.h"

// The inputs of a case as tensors, made once and handed to every engine as the same files.
namespace paceline::workload {

// How pixels of 0 to 255 become numbers: (pixel - mean) / scale, one value or red, green, blue. Neither is
// given: ImageNet's for float32, the pixels themselves for uint8. One is given: the other is 0 or 1.
struct ImageFormat {
  std::vector<double> mean, scale;
  bool reverse_channels = false;  // blue, green, red
};

struct InputRequest {
  std::vector<TensorSpec> specs;        // as stored (input_layout.h): dimension 0 is the number of samples
  std::vector<std::int64_t> id_limits;  // one a spec; above 0: token ids below it; 0: normal data or ones
  std::uint64_t seed = 0;
  std::vector<std::string>
      load_inputs;                  // .npy or .npz files instead of random data; "name:x.npy" names the input
  std::filesystem::path image_dir;  // JPEG/PNG instead of random data, for one image input
  std::int64_t batch = 1;           // samples are made in whole batches
  // The batch dimension of each of the model's inputs, -1: none; empty: dimension 0. Files hold arrays in the
  // model's layout.
  std::vector<std::int64_t> batch_dimensions{};
  ImageFormat image_format{};
};

// Float inputs: standard normal; token ids: uniform; other integers (attention masks): ones. Sample i of an
// input is the same whatever the number of samples. Loaded data that is too short gives fewer samples, of
// which only the last batch is filled up with repeated ones. Every array that is loaded belongs to one input.
// Throws Error(kData) or Error(kConfig) naming the file, what it holds and what is needed.
std::vector<Tensor> make_inputs(const InputRequest& request);

// Samples that load_inputs or image_dir hold; 0 for generated ones, of which there is no end.
std::int64_t samples_given(const InputRequest& request);

// JPEG/PNG files of a folder in name order: shorter side resized to 256 (for 224), centre crop. `spec` is [N,
// 3, H, W] or [N, H, W, 3], float32 or uint8 (rounded, cut to 0..255). Throws Error(kConfig) for another one.
Tensor load_images(const std::filesystem::path& folder, const TensorSpec& spec, const ImageFormat& format);
std::int64_t count_images(const std::filesystem::path& folder);

}  // namespace paceline::workload
