// SPDX-License-Identifier: MIT
// Fills a model with seeded random weights or with those of a checkpoint.
#pragma once
#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace paceline::torch_plugin {

class Model;

// How a parameter's random values are drawn; always uniform, so that the range is bounded.
enum class Law {
  kAround,           // centre ± spread
  kFanIn,            // mean 0, standard deviation spread / sqrt(inputs per output); weight stored [out, …]
  kFanInTransposed,  // the same for weights stored [in, out]
  kFanInBalanced,    // like kFanIn, and the weights of each output add up to 0
};

// Applies to parameters and buffers whose dotted name ends in `suffix`; the first fitting row wins.
struct WeightRule {
  std::string_view suffix;
  Law law;
  double centre;
  double spread;
};

// The beginning of one of the model's names, and the checkpoints' name for that tensor; '#' stands for the
// number of a layer. With several names the tensor consists of theirs, concatenated along dimension 0.
struct PublicName {
  std::string_view ours;
  std::array<std::string_view, 3> theirs;
};

// How public checkpoints of a model name things, besides the model's own names.
struct CheckpointNames {
  std::string_view prefix;                    // may precede every name, e.g. "bert."
  std::span<const std::string_view> ignored;  // parts of names without weights of this model
  std::span<const PublicName> renamed{};      // other names are the model's own
};

// Fills every parameter and buffer from (seed, its name, index): the same numbers in any process and with any
// number of threads.
void fill_random(Model& model, std::span<const WeightRule> rules, std::uint64_t seed, int threads);

// Copies a checkpoint by name, and returns the names in it that are no weight of this model.
// Throws Error(kData), which names the first missing, unexpected or misshapen tensor.
std::vector<std::string> load_weights(Model& model, const CheckpointNames& names, const std::string& file);

// The layer of a weight: "layer1.0.conv1" for "layer1.0.conv1.weight"; a name without a dot is its own layer.
std::string layer_of(const std::string& weight);

}  // namespace paceline::torch_plugin
