// SPDX-License-Identifier: MIT
#include "workload/inference/feedback.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <optional>

#include "base/error.h"
#include "base/text.h"

namespace paceline::workload {
namespace {

std::optional<std::size_t> index_of(std::span<const TensorView> tensors, std::string_view name) {
  for (std::size_t i = 0; i < tensors.size(); ++i)
    if (tensors[i].name == name) return i;
  return std::nullopt;
}

std::string names_of(std::span<const TensorView> tensors) {
  std::vector<std::string> names;
  for (const auto& tensor : tensors) names.push_back(tensor.name);
  return join(names, ", ");
}

std::string form_of(const TensorView& tensor) {
  return fmt::format("{} [{}]", dtype_name(tensor.dtype), fmt::join(tensor.shape, ","));
}

[[noreturn]] void refuse(const std::string& pair, const std::string& why) {
  throw Error(ErrorCode::kConfig, fmt::format("feedback '{}': {}", pair, why));
}

}  // namespace

Feedback::Feedback(const std::vector<std::string>& pairs, std::span<const TensorView> inputs,
                   std::span<const TensorView> outputs)
    : inputs_(inputs.begin(), inputs.end()) {
  for (const auto& pair : pairs) add(pair, outputs);
}

void Feedback::add(const std::string& pair, std::span<const TensorView> outputs) {
  for (auto colon = pair.find(':'); colon != std::string::npos; colon = pair.find(':', colon + 1)) {
    const auto output = index_of(outputs, pair.substr(0, colon));
    const auto input = index_of(inputs_, pair.substr(colon + 1));
    if (!output || !input) continue;
    const TensorView &from = outputs[*output], &to = inputs_[*input];
    if (from.dtype != to.dtype || from.shape != to.shape)
      refuse(pair, fmt::format("the output is {}, the input {}", form_of(from), form_of(to)));
    if (std::any_of(wires_.begin(), wires_.end(), [&](const Wire& wire) { return wire.input == *input; }))
      refuse(pair, "this input is fed already");
    wires_.push_back({*output, *input});
    states_.emplace_back(TensorSpec{to.name, to.dtype, to.shape});
    std::memcpy(states_.back().data(), to.data, to.size_bytes());
    inputs_[*input] = states_.back().view();
    return;
  }
  refuse(pair, fmt::format("write OUTPUT:INPUT; the outputs are {}, the inputs {}", names_of(outputs),
                           names_of(inputs_)));
}

std::span<const TensorView> Feedback::next(std::span<const TensorView> outputs) {
  for (const auto& [output, input] : wires_)
    std::memcpy(inputs_[input].data, outputs[output].data, inputs_[input].size_bytes());
  return inputs_;
}

}  // namespace paceline::workload
