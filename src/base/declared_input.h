// SPDX-License-Identifier: MIT
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "base/tensor.h"

namespace paceline {

// What a model file says of one of its inputs.
struct DeclaredInput {
  std::string name;
  std::optional<DType> dtype;          // none: the file does not say, or it is a type without a name here
  std::optional<Shape> shape;          // -1: a dimension that is left open; none: the rank is not said
  std::vector<std::string> symbols{};  // one a dimension, "batch" or "N"; "": fixed, or open without a name
};

}  // namespace paceline
