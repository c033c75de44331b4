// SPDX-License-Identifier: MIT
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/declared_input.h"
#include "base/tensor.h"

// Shapes of inputs as users write them, and which of their dimensions is the batch.
namespace paceline::config {

inline constexpr std::int64_t kBatchSize = -1;  // stands for the batch size in InputShape::shape
inline constexpr std::int64_t kMaxElements = std::int64_t{1} << 34;  // of one input

// One input of `shapes`: trtexec's NAME:DIMxDIM, with {batch} for a dimension that is the batch, "scalar" for
// no dimension, and a type behind it. The name may hold colons, as TensorFlow's do.
struct InputShape {
  std::string name;
  Shape shape;                 // kBatchSize where {batch} is written
  std::optional<DType> dtype;  // none: not written
  friend bool operator==(const InputShape&, const InputShape&) = default;
};

// "input:{batch}x3x224x224,ids:8x128:int64,step:scalar:int64". Throws Error(kConfig).
std::vector<InputShape> parse_input_shapes(std::string_view text);
std::string input_shapes_text(const std::vector<InputShape>& shapes);

// The same where nothing is left open: sizes only, float32 unless written. Throws Error(kConfig).
std::vector<TensorSpec> parse_shapes(std::string_view text);

// The dimension of an input that is the batch; none: the input is the same whatever the batch.
std::optional<std::size_t> batch_dimension(const InputShape& input);

struct SettledShapes {
  std::vector<InputShape> inputs;     // every batch dimension is kBatchSize
  std::vector<std::int64_t> batches;  // as asked for; else the one that the shapes say; 1 where none does
};

// Settles which dimensions are the batch: where {batch} is written; else those that share the batch's symbol
// in the file; else dimension 0 of every input whose size there is the batch. `written` may leave out inputs
// that the file gives in full. Sizes that are written stay as they are. A file that fixes sizes which differ,
// or which `first_output` does not have, has no batch. Throws Error(kConfig) where shapes and batches cannot
// both be meant, where two readings fit, and where a dimension is left open.
SettledShapes settle_shapes(const std::vector<InputShape>& written,
                            const std::vector<DeclaredInput>& declared,
                            const std::vector<std::int64_t>& batches,
                            const std::optional<Shape>& first_output = std::nullopt);

}  // namespace paceline::config
