// SPDX-License-Identifier: MIT
// Sizes for what a model file leaves open.
#pragma once
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "base/declared_input.h"

namespace paceline::config {

using SymbolSizes = std::map<std::string, std::int64_t>;

// The symbol of a dimension; "": it has none.
std::string symbol_of(const DeclaredInput& input, std::size_t dimension);

// An example for an open dimension, for the user to replace. A cache of past tokens begins empty.
std::int64_t example_size(const DeclaredInput& input, std::size_t dimension);

// The length of a decoder's mask, which covers past and new tokens under a symbol of its own; none: it is no
// such mask, or these are not known.
std::optional<std::int64_t> mask_size(const DeclaredInput& input, std::size_t dimension,
                                      const SymbolSizes& sizes);

}  // namespace paceline::config
