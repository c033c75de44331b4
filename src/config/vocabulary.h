// SPDX-License-Identifier: MIT
#pragma once
#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/tensor.h"

// The names this tool knows: models, engines, precisions.
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
};

struct Engine {
  std::string_view name;
  std::string_view plugin;  // which plug-in brings it
  std::string_view meaning;
  std::string_view reads{};  // the format it reads a built-in model in; empty: it has the models itself
};

// Largest accepted difference from the FP32 reference: max|a-b|/max|b|, and centred cosine
// (docs/methodology.md, accuracy).
struct Tolerance {
  double max_rel_err = 0;
  double centred_cosine = 0;
};

struct Precision {
  std::string_view name;
  std::string_view meaning;
  bool available = true;
  Tolerance cnn, transformer;
  double max_changed = 1;  // accepted share of answers that differ from FP32's, with trained weights
  // Accepted 0.98 quantile of the errors of a dense output, over the reference's standard deviation.
  double quantile_err = 0;
  // Accepted root mean square of the errors, in units of what moving the inputs by one unit in the last place
  // of float32 changes; 0: no such limit.
  double ulps = 0;
};

// A suffix that makes a model or engine name a file.
struct FileType {
  std::string_view suffix;
  std::string_view engine;                    // the engine it implies; empty: none
  std::span<const std::string_view> readers;  // engines of ours that read it
};

std::span<const Model> models();
std::span<const Engine> engines();
std::span<const Precision> precisions();
std::span<const FileType> file_types();

// A built-in model, or a folder that read_folder_model (folder_models.h) has read under this name.
const Model* find_model(std::string_view name);
const Engine* find_engine(std::string_view name);
const Precision* find_precision(std::string_view name);
const FileType* find_file_type(std::string_view path);

// Full shapes of a built-in model's inputs, batch in dimension 0. sequence_length is ignored by models
// without one.
std::vector<TensorSpec> model_inputs(const Model& model, std::int64_t batch, std::int64_t sequence_length);

const Tolerance& tolerance(const Precision& precision, Task task);

}  // namespace paceline::config
