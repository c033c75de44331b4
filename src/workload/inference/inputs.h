// SPDX-License-Identifier: MIT
#pragma once
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "base/tensor.h"
#include "pass/input_request.h"
#include "result/figures/picture_parts.h"

// Makes the inputs of a case as tensors, once; every engine gets the same files.
namespace paceline::workload {

// Numbers are drawn from the request's ranges. Sample i of an
// input is the same whatever the number of samples. Loaded data that is too short gives fewer samples, of
// which only the last batch is filled up with repeated ones. Every array that is loaded belongs to one input.
// Throws Error(kData) or Error(kConfig) naming the file, what it holds and what is needed.
// `times`: filled in with those of the pictures of image_dir.
std::vector<Tensor> make_inputs(const pass::InputRequest& request, result::PictureTimes* times = nullptr);

// How many samples load_inputs or image_dir hold; 0 for generated inputs, which never end.
std::int64_t samples_given(const pass::InputRequest& request);

// JPEG/PNG files of a folder in name order: shorter side resized to 256 (for 224), centre crop. `spec` is [N,
// 3, H, W] or [N, H, W, 3], float32 or uint8 (rounded, cut to 0..255). Throws Error(kConfig) for another one.
Tensor load_images(const std::filesystem::path& folder, const TensorSpec& spec,
                   const pass::ImageFormat& format, result::PictureTimes* times = nullptr);
std::int64_t count_images(const std::filesystem::path& folder);
// Other files of the folder, in words; empty: there are none.
std::string images_left_out(const std::filesystem::path& folder);

}  // namespace paceline::workload
