// SPDX-License-Identifier: MIT
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/declared_input.h"
#include "base/tensor.h"

// Parses shapes of inputs, and finds which of their dimensions is the batch.
namespace paceline::config {

inline constexpr std::int64_t kBatchSize = -1;  // stands for the batch size in InputShape::shape
inline constexpr std::int64_t kMaxElements = std::int64_t{1} << 34;  // per input

// One input of `shapes`: trtexec's NAME:DIMxDIM, with {batch} for the batch dimension, "scalar" for no
// dimension, and an optional type behind it. The name may hold colons, as TensorFlow's do.
struct InputShape {
  std::string name;
  Shape shape;                 // kBatchSize where {batch} is written
  std::optional<DType> dtype;  // none: not written
  friend bool operator==(const InputShape&, const InputShape&) = default;
};

// "input:{batch}x3x224x224,ids:8x128:int64,step:scalar:int64". Throws Error(kConfig).
std::vector<InputShape> parse_input_shapes(std::string_view text);
std::string input_shapes_text(const std::vector<InputShape>& shapes);

// Accepts sizes only; the type is float32 unless written. Throws Error(kConfig).
std::vector<TensorSpec> parse_shapes(std::string_view text);

// The dimension of an input that is the batch; none: the input is the same whatever the batch.
std::optional<std::size_t> batch_dimension(const InputShape& input);

struct SettledShapes {
  std::vector<InputShape> inputs;     // every batch dimension is kBatchSize
  std::vector<std::int64_t> batches;  // as asked for; else what the shapes say; else 1
};

// Further facts about a model's inputs, and how options are spelled in suggestions.
struct ShapeHints {
  std::optional<Shape> first_output{};  // -1: an open dimension
  std::vector<TensorSpec> arrays{};     // the user's arrays, by the inputs that they are for
  std::string shapes_option = "--shapes ", batch_option = "--batch ";
};

// Settles which dimensions are the batch: where {batch} is written; else those that share the batch's symbol
// in the file; else dimension 0 of every input whose size there is the batch. `written` may leave out inputs
// that the file declares in full; other open sizes are those of the arrays, or of the same symbol elsewhere.
// Written sizes stay. A file with fixed sizes that differ, or that its first output does not have, has no
// batch. Throws Error(kConfig) where shapes and batches contradict each other, where two readings are
// possible, and where a dimension stays open.
SettledShapes settle_shapes(const std::vector<InputShape>& written,
                            const std::vector<DeclaredInput>& declared,
                            const std::vector<std::int64_t>& batches, const ShapeHints& hints = {});

}  // namespace paceline::config
