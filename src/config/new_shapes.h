// SPDX-License-Identifier: MIT
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "base/declared_input.h"
#include "base/tensor.h"
#include "config/model.h"
#include "config/shapes.h"

// Shapes that a loaded model has not seen before: the option new_shapes.
namespace paceline::config {

struct NewShape {
  std::int64_t batch = 0;          // of the loaded shapes; 0: `inputs` say
  std::vector<InputShape> inputs;  // without types
};

// "4" is a batch, "ids:1x32" the shape of an input, as in `shapes`. An input that comes again begins another
// shape. Throws Error(kConfig).
std::vector<NewShape> parse_new_shapes(const std::vector<std::string>& texts);
std::vector<std::string> new_shape_texts(const std::vector<NewShape>& shapes);

// Gives each shape every input of `loaded`. One that is not written is as loaded, with sizes of written ones
// that share its symbols, or the batch. Throws Error(kConfig) for an unknown input, one that is left out and
// may have to follow, another number of dimensions, a size above the loaded one at this batch, and for sizes
// that are loaded or listed before.
std::vector<NewShape> complete_new_shapes(const std::vector<NewShape>& written,
                                          const std::vector<InputShape>& loaded,
                                          const std::vector<DeclaredInput>& declared, std::int64_t batch);
// Does so for a built-in model at this length.
std::vector<NewShape> complete_new_shapes(const std::vector<NewShape>& written, const Model& model,
                                          std::int64_t sequence_length, std::int64_t batch);

// The full shapes of a case's inputs, and what tells them from the loaded ones: "batch 4", "1x32" or
// "ids:1x32, audio:1x512".
struct SizedShape {
  std::string name;
  std::vector<Shape> sizes;  // in the order of the inputs
};
SizedShape sized(const NewShape& shape, const std::vector<TensorSpec>& loaded,
                 const std::vector<std::int64_t>& batch_dimensions, std::int64_t batch);

}  // namespace paceline::config
