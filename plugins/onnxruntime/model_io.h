// SPDX-License-Identifier: MIT
// Reads which inputs and outputs an opened model declares.
#pragma once
#include <onnxruntime_cxx_api.h>

#include <string>
#include <vector>

#include "base/declared_input.h"
#include "support/engine_checks.h"

namespace paceline::ort_plugin {

// Inputs that an opened model needs.
std::vector<plugin_support::DeclaredInput> declared_inputs(const Ort::Session& session);

// Lists the inputs of a file. Throws Error(kUnsupported) for an input that is no tensor.
std::vector<DeclaredInput> inputs_of(const Ort::Session& session);

// An output as far as it is known before the first inference.
struct ModelOutput {
  std::string name;
  std::optional<DType> dtype;  // none: a type that cannot be handed on (strings, sequences, maps)
  Shape shape;                 // -1 where only the inference tells
  [[nodiscard]] bool allocatable() const;
};
std::vector<ModelOutput> model_outputs(const Ort::Session& session);

}  // namespace paceline::ort_plugin
