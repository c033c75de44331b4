// SPDX-License-Identifier: MIT
#pragma once
#include <iterator>

#include "fake_model.h"

namespace fake {

// A plan as its lines say (fake_model.h).
struct Plan {
  using Ranges =
      std::map<std::string, std::map<std::string, nvinfer1::Dims>>;  // by input, by min | opt | max
  std::vector<Tensor> inputs, outputs;
  std::vector<Ranges> profiles;
  std::string inspector, load_error;
  std::vector<float> layer_ms{0.25F};
  double kernel_ms = 2, launch_ms = 0;
  int kernel_error = 0, failing_run = 0, refused_run = 0;
  bool data_dependent = false, no_graph = false;

  explicit Plan(const std::string& text) {
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);) read_line(line);
  }
  // Null for a name of none.
  [[nodiscard]] const Tensor* find(std::string_view name) const {
    for (const auto* tensors : {&inputs, &outputs})
      for (const auto& tensor : *tensors)
        if (tensor.name == name) return &tensor;
    return nullptr;
  }
  [[nodiscard]] bool is_input(const Tensor& tensor) const {
    return !inputs.empty() && &tensor >= &inputs.front() && &tensor <= &inputs.back();
  }
  // Input that the output doubles.
  [[nodiscard]] const Tensor& source_of(const Tensor& output) const {
    if (!output.of.empty()) return *find(output.of);
    const auto index = static_cast<std::size_t>(&output - &outputs.front());
    return inputs.at(index < inputs.size() ? index : 0);
  }

 private:
  void read_line(const std::string& line) {
    std::istringstream words(line);
    std::string what;
    words >> what;
    if (what == "input") inputs.push_back(read_tensor(words));
    if (what == "output") outputs.push_back(read_tensor(words));
    if (what == "inspector") inspector = rest_of(words);
    if (what == "load_error") load_error = rest_of(words);
    if (what == "data_dependent") data_dependent = true;
    if (what == "no_graph") no_graph = true;
    if (what == "kernel_ms") words >> kernel_ms;
    if (what == "launch_ms") words >> launch_ms;
    if (what == "kernel_error") words >> kernel_error >> failing_run;
    if (what == "refuse_enqueue") words >> refused_run;
    if (what == "layer_ms") layer_ms.assign(std::istream_iterator<float>(words), {});
    if (what == "profile") read_profile(words);
  }
  void read_profile(std::istream& words) {
    std::size_t index = 0;
    std::string input, which;
    words >> index >> input;
    if (profiles.size() <= index) profiles.resize(index + 1);
    for (std::string word; words >> word;)
      if (word == "min" || word == "opt" || word == "max")
        which = word;
      else
        add(profiles[index][input][which], std::stoll(word));
  }
  static void add(nvinfer1::Dims& dims, std::int64_t extent) { dims.d[dims.nbDims++] = extent; }
};

}  // namespace fake
