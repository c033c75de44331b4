// SPDX-License-Identifier: MIT
// Known models: their inputs and their work.
#pragma once
#include <array>
#include <cstdint>
#include <span>
#include <string_view>

#include "base/tensor.h"

namespace paceline::config {

enum class Task { kCnn, kTransformer };

inline constexpr std::int64_t kSequence = -1;  // stands for the sequence length in ModelInput::shape
inline constexpr std::array<std::int64_t, 1> kTokens{kSequence};

struct ModelInput {
  std::string_view name;
  DType dtype = DType::kFloat32;
  std::span<const std::int64_t> shape;  // of one sample, without the batch
  std::int64_t id_limit = 0;            // token ids are below this; 0: not token ids
};

// Multiply-adds of one forward pass: a polynomial in the number of tokens.
struct MacCount {
  std::int64_t fixed = 0, per_token = 0, per_pair_of_tokens = 0;
  constexpr std::int64_t operator()(std::int64_t tokens) const {
    return fixed + per_token * tokens + per_pair_of_tokens * tokens * tokens;
  }
};

// Projections and feed-forward of every block of a transformer, and both products of attention.
constexpr MacCount transformer_macs(std::int64_t layers, std::int64_t width, std::int64_t feed_forward) {
  return {0, layers * (4 * width * width + 2 * width * feed_forward), 2 * layers * width};
}

struct Model {
  std::string_view name;
  Task task = Task::kCnn;
  std::string_view item;  // what throughput counts: images, sequences, rows
  std::span<const ModelInput> inputs;
  std::int64_t default_sequence_length = 0;  // 0: the model has no sequence axis
  std::int64_t max_sequence_length = 0;
  std::int64_t parameters = 0;
  // Multiply-adds of the convolutions and matrix products in one forward pass of one sample, QK^T and AV in
  // full; FLOP = 2 x MAC (docs/metrics.md, model FLOPs).
  MacCount forward_macs;
  bool internal = false;  // measures the machine's peak; not offered to users
  std::int64_t internal_batch = 0;
  std::string_view answers = "classes";  // what a row of the output holds: classes | tokens | none
  std::string_view folder{};             // the folder with its sizes and weights; empty: built in
  // Numbers in activations that a forward pass of one sample surely holds at the same time; 0: not known.
  MacCount live_numbers{};
  std::int64_t convolution_macs = 0;  // of forward_macs

  // Share of a forward pass that is in convolutions.
  [[nodiscard]] constexpr double convolution_share(std::int64_t tokens) const {
    return static_cast<double>(convolution_macs) / static_cast<double>(forward_macs(tokens));
  }
};

}  // namespace paceline::config
