// SPDX-License-Identifier: MIT
// Names in addition to those of the vocabulary.
#pragma once
#include <algorithm>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/declared_input.h"
#include "base/tensor.h"

namespace paceline::config {

// Names that plug-ins add to the vocabulary.
struct ExtraNames {
  std::vector<std::string> engines;
  std::vector<std::string> models;
  // The inputs that a model file declares, read by that engine with those libraries. May throw Error.
  std::function<std::vector<DeclaredInput>(const std::string& file, const std::string& engine,
                                           const std::vector<std::string>& libraries)>
      declared_inputs{};
  // Numbers that a file compares its inputs with, by input: what it takes one to be.
  std::function<std::map<std::string, std::int64_t>(const std::string& file)> compared_numbers{};
  // The shape of a file's first output, -1 where a dimension is open; none: not known.
  std::function<std::optional<Shape>(const std::string& file)> first_output_shape{};
};

// Names for kModel and kEngine options besides the vocabulary; `open`: a plug-in of the plan may add any.
struct NameSpace {
  const ExtraNames* extra = nullptr;
  bool open = false;
  std::span<const std::string> meant{};  // options that mistyped flags were meant to be

  [[nodiscard]] bool means(std::string_view option) const {
    return std::ranges::find(meant, option) != meant.end();
  }
};

}  // namespace paceline::config
