// SPDX-License-Identifier: MIT
// Request for the inputs that a case, or a calibration, needs, and the outputs that a user's file expects of
// them.
#pragma once
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "base/tensor.h"

namespace paceline::pass {

// How pixels of 0 to 255 become numbers: (pixel - mean) / scale, one value or red, green, blue. Neither is
// given: ImageNet's for float32, the pixels themselves for uint8. One is given: the other is 0 or 1.
struct ImageFormat {
  std::vector<double> mean, scale;
  bool reverse_channels = false;  // blue, green, red
};

// Numbers drawn evenly between two, both of which may occur. Not given: normal for floats, any for 8 bits,
// else ones.
struct ValueRange {
  bool given = false;
  double from = 0, to = 0;
};

struct InputRequest {
  std::vector<TensorSpec> specs;   // as stored (input_layout.h): dimension 0 is the number of samples
  std::vector<ValueRange> ranges;  // one a spec
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

// Output of an inputs pass.
struct InputsTo {
  static constexpr const char* kField = "inputs_to";
  InputRequest request;
  std::string prefix;        // PREFIX-0.npy for the first input, and so on
  bool count_given = false;  // say how many samples the user's files hold
};

// Output of an expected pass: a reference of spec.inference.samples, filled up as inputs are.
struct ExpectedTo {
  static constexpr const char* kField = "expected_to";
  std::string from;        // the user's file
  std::int64_t given = 0;  // number of its outputs that are used
  std::string file;
};

}  // namespace paceline::pass
