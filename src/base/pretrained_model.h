// SPDX-License-Identifier: MIT
#pragma once
#include <array>
#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>

// Reads folders as Hugging Face's save_pretrained writes them: config.json, and finds the weights beside it.
namespace paceline {

// Sizes of a transformer; 0 where its family has none.
struct TransformerShape {
  std::int64_t layers = 0, width = 0, heads = 0, feed_forward = 0;
  double eps = 0;          // of the layer norms
  bool tanh_gelu = false;  // GELU by its approximation with tanh
  std::int64_t vocabulary = 0, positions = 0, token_types = 0;
  std::int64_t image = 0, patch = 0, channels = 0;  // height and width of an image and of a patch
  std::int64_t labels = 0;                          // of a head that classifies
};

enum class TransformerFamily { kBert, kGpt2, kVit };

// Part behind the layers, which determines the output.
enum class TransformerHead {
  kNone,          // hidden states of every token
  kPooled,        // hidden state of the first token, through a dense layer and tanh
  kTokenScores,   // scores of the vocabulary for every token
  kClasses,       // scores of the labels
  kTokenClasses,  // scores of the labels for every token
};

struct PretrainedModel {
  TransformerFamily family = TransformerFamily::kBert;
  TransformerHead head = TransformerHead::kNone;
  TransformerShape shape;
};

// "bert", "gpt2" or "vit", as in model_type of config.json.
std::string_view family_name(TransformerFamily family);
std::optional<TransformerFamily> find_family(std::string_view model_type);

// Whether this is a folder with a config.json.
bool is_pretrained_folder(const std::filesystem::path& folder);

// Reads FOLDER/config.json. Throws Error(kData) naming the file and the key that is not supported.
PretrainedModel read_pretrained_model(const std::filesystem::path& folder);

// The name of the folder, also when it is given as "." or with a trailing slash.
std::string folder_name(const std::filesystem::path& folder);

// Names of weights, the preferred first: whole, in parts with a list of them, and as torch.save writes them.
inline constexpr std::array<std::string_view, 4> kPretrainedWeights{
    "model.safetensors", "model.safetensors.index.json", "pytorch_model.bin", "pytorch_model.bin.index.json"};
// The first that a folder has; the preferred name where it has none.
std::filesystem::path pretrained_weights(const std::filesystem::path& folder);

// The ending of a list of the files that hold the weights together.
inline constexpr std::string_view kWeightsIndex = ".index.json";
// The files that such a list names beside it, by tensor. Throws Error(kData) where it is no such list.
std::map<std::string, std::filesystem::path> indexed_weights(const std::filesystem::path& index);

}  // namespace paceline
