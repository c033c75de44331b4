// SPDX-License-Identifier: MIT
#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/tensor.h"

namespace paceline {

// An input that another one indexes, and the dimension of it.
struct IndexedInput {
  std::string name;
  std::size_t dimension = 0;
  friend bool operator==(const IndexedInput&, const IndexedInput&) = default;
};

// Declaration of one input in a model file.
struct DeclaredInput {
  std::string name;
  std::optional<DType> dtype;          // none: not declared, or a type without a name here
  std::optional<Shape> shape;          // -1: an open dimension; none: the rank is not declared
  std::vector<std::string> symbols{};  // one per dimension, "batch" or "N"; "": fixed, or open without a name
  std::optional<Shape> example{};      // without a declared rank: a shape that it takes, the batch -1
  std::int64_t id_limit = 0;           // its integers index a table with this number of rows; 0: not known
  std::vector<IndexedInput> indexes{};  // its integers index open dimensions of other inputs
};

}  // namespace paceline
