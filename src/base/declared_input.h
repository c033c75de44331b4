// SPDX-License-Identifier: MIT
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "base/tensor.h"

namespace paceline {

// What a model file declares about one of its inputs.
struct DeclaredInput {
  std::string name;
  std::optional<DType> dtype;          // none: not declared, or a type without a name here
  std::optional<Shape> shape;          // -1: an open dimension; none: the rank is not declared
  std::vector<std::string> symbols{};  // one per dimension, "batch" or "N"; "": fixed, or open without a name
};

}  // namespace paceline
