// SPDX-License-Identifier: MIT
#include "base/pretrained_model.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <span>
#include <vector>

#include "base/bounded_json.h"
#include "base/display_text.h"
#include "base/error.h"
#include "base/foreign_text.h"
#include "base/json.h"
#include "base/reading.h"
#include "base/text.h"

namespace paceline {
namespace fs = std::filesystem;
namespace {

using Shape = TransformerShape;
using Family = TransformerFamily;
using Head = TransformerHead;

// The limits keep products of sizes within 63 bits.
constexpr std::int64_t kMaxLayers = 256, kMaxWidth = 16384, kMaxFeedForward = 65536, kMaxPositions = 32768,
                       kMaxVocabulary = 4'000'000, kMaxImage = 4096, kMaxLabels = 1'000'000;

// A size with the default of the published implementation; 0: the default follows from other sizes.
struct SizeKey {
  std::string_view key;
  std::int64_t Shape::*size;
  std::int64_t fallback, most;
};
constexpr std::array kBertSizes{
    SizeKey{"num_hidden_layers", &Shape::layers, 12, kMaxLayers},
    SizeKey{"hidden_size", &Shape::width, 768, kMaxWidth},
    SizeKey{"num_attention_heads", &Shape::heads, 12, kMaxWidth},
    SizeKey{"intermediate_size", &Shape::feed_forward, 3072, kMaxFeedForward},
    SizeKey{"vocab_size", &Shape::vocabulary, 30522, kMaxVocabulary},
    SizeKey{"max_position_embeddings", &Shape::positions, 512, kMaxPositions},
    SizeKey{"type_vocab_size", &Shape::token_types, 2, kMaxVocabulary},
};
constexpr std::array kGpt2Sizes{
    SizeKey{"n_layer", &Shape::layers, 12, kMaxLayers},
    SizeKey{"n_embd", &Shape::width, 768, kMaxWidth},
    SizeKey{"n_head", &Shape::heads, 12, kMaxWidth},
    SizeKey{"n_inner", &Shape::feed_forward, 0, kMaxFeedForward},
    SizeKey{"vocab_size", &Shape::vocabulary, 50257, kMaxVocabulary},
    SizeKey{"n_positions", &Shape::positions, 1024, kMaxPositions},
};
constexpr std::array kVitSizes{
    SizeKey{"num_hidden_layers", &Shape::layers, 12, kMaxLayers},
    SizeKey{"hidden_size", &Shape::width, 768, kMaxWidth},
    SizeKey{"num_attention_heads", &Shape::heads, 12, kMaxWidth},
    SizeKey{"intermediate_size", &Shape::feed_forward, 3072, kMaxFeedForward},
    SizeKey{"image_size", &Shape::image, 224, kMaxImage},
    SizeKey{"patch_size", &Shape::patch, 16, kMaxImage},
    SizeKey{"num_channels", &Shape::channels, 3, kMaxImage},
};

// Keys that would change the computation in ways that are not built in, each with its only accepted value.
struct FixedKey {
  std::string_view key, value;  // the value as JSON
};
constexpr std::array kBertFixed{
    FixedKey{"position_embedding_type", "\"absolute\""},
    FixedKey{"is_decoder", "false"},
    FixedKey{"add_cross_attention", "false"},
};
constexpr std::array kGpt2Fixed{
    FixedKey{"scale_attn_weights", "true"},
    FixedKey{"scale_attn_by_inverse_layer_idx", "false"},
    FixedKey{"add_cross_attention", "false"},
};
constexpr std::array kVitFixed{FixedKey{"qkv_bias", "true"}};
constexpr std::array kFixed{
    FixedKey{"pruned_heads", "{}"}, FixedKey{"auto_map", "{}"},  // code from the folder
    FixedKey{"quantization_config", "{}"},                       // weights that are not plain numbers
};

struct FamilyRow {
  Family family;
  std::string_view model_type;
  std::span<const SizeKey> sizes;
  std::span<const FixedKey> fixed;
  std::string_view width_key, heads_key, activation_key, activation, eps_key;
  double eps;
};
constexpr std::array kFamilies{
    FamilyRow{Family::kBert, "bert", kBertSizes, kBertFixed, "hidden_size", "num_attention_heads",
              "hidden_act", "gelu", "layer_norm_eps", 1e-12},
    FamilyRow{Family::kGpt2, "gpt2", kGpt2Sizes, kGpt2Fixed, "n_embd", "n_head", "activation_function",
              "gelu_new", "layer_norm_epsilon", 1e-5},
    FamilyRow{Family::kVit, "vit", kVitSizes, kVitFixed, "hidden_size", "num_attention_heads", "hidden_act",
              "gelu", "layer_norm_eps", 1e-12},
};

struct HeadRow {
  Family family;
  std::string_view architecture;
  Head head;
};
constexpr std::array kHeads{
    HeadRow{Family::kBert, "BertModel", Head::kNone},
    HeadRow{Family::kBert, "BertForMaskedLM", Head::kTokenScores},
    HeadRow{Family::kBert, "BertForPreTraining", Head::kTokenScores},
    HeadRow{Family::kBert, "BertForSequenceClassification", Head::kClasses},
    HeadRow{Family::kBert, "BertForTokenClassification", Head::kTokenClasses},
    HeadRow{Family::kGpt2, "GPT2Model", Head::kNone},
    HeadRow{Family::kGpt2, "GPT2LMHeadModel", Head::kTokenScores},
    HeadRow{Family::kVit, "ViTModel", Head::kNone},
    HeadRow{Family::kVit, "ViTForImageClassification", Head::kClasses},
};

struct ActivationRow {
  std::string_view name;
  bool tanh;
};
constexpr std::array kActivations{
    ActivationRow{"gelu", false},
    ActivationRow{"gelu_python", false},
    ActivationRow{"gelu_new", true},
    ActivationRow{"gelu_fast", true},
    ActivationRow{"gelu_pytorch_tanh", true},
    ActivationRow{"gelu_accurate", true},
};

template <typename Rows, typename Member>
std::string listed(const Rows& rows, Member member) {
  std::vector<std::string> names;
  for (const auto& row : rows) names.emplace_back(row.*member);
  return join(names, ", ");
}

class ConfigReader {
 public:
  explicit ConfigReader(const fs::path& folder) : file_(folder / "config.json") {}

  PretrainedModel read() {
    json_ = json_or_discarded(read_foreign(file_, Foreign::kPretrained));
    if (!json_.is_object()) fail("it is not a JSON object");
    family_ = &family();
    check_fixed(kFixed);
    check_fixed(family_->fixed);
    PretrainedModel model{family_->family, head(), {}};
    for (const auto& size : family_->sizes) model.shape.*(size.size) = size_of(size);
    complete(model);
    return model;
  }

 private:
  [[noreturn]] void fail(const std::string& what) const {
    throw Error(ErrorCode::kData, fmt::format("'{}': {}", file_.string(), what));
  }
  [[noreturn]] void refuse(std::string_view key, const std::string& wanted) const {
    fail(fmt::format("{} is {}; {}", key, shown_value(json_.at(std::string(key)).dump()), wanted));
  }
  // Null means that the key is missing.
  [[nodiscard]] const nlohmann::json* value(std::string_view key) const {
    const auto found = json_.find(std::string(key));
    return found == json_.end() || found->is_null() ? nullptr : &*found;
  }

  [[nodiscard]] const FamilyRow& family() const {
    constexpr const char* kElse =
        "a model of another kind runs as ONNX (optimum-cli export onnx --model FOLDER OUT, then "
        "OUT/model.onnx)";
    const auto* type = value("model_type");
    if (!type)
      fail(fmt::format("it has no model_type, so that this is no Hugging Face folder of {}; {}",
                       listed(kFamilies, &FamilyRow::model_type), kElse));
    for (const auto& row : kFamilies)
      if (*type == row.model_type) return row;
    refuse("model_type",
           fmt::format("built in are {}; {}", listed(kFamilies, &FamilyRow::model_type), kElse));
  }

  void check_fixed(std::span<const FixedKey> keys) const {
    for (const auto& [key, only] : keys)
      if (const auto* found = value(key); found && found->dump() != only)
        refuse(key, fmt::format("only {} is built in", only));
  }

  [[nodiscard]] Head head() const {
    const auto* names = value("architectures");
    if (!names || names->empty()) return Head::kNone;
    if (!names->is_array()) refuse("architectures", "a list of one name belongs here");
    std::vector<std::string> known;
    for (const auto& row : kHeads) {
      if (row.family != family_->family) continue;
      if (names->at(0) == row.architecture) return row.head;
      known.emplace_back(row.architecture);
    }
    refuse("architectures", fmt::format("built in are {}; write [\"{}\"] to run it without its head",
                                        join(known, ", "), known.front()));
  }

  [[nodiscard]] std::int64_t size_of(const SizeKey& row) const {
    const auto* found = value(row.key);
    if (!found) return row.fallback;
    const bool square = found->is_array() && found->size() == 2 && found->at(0) == found->at(1);
    const auto& number = square ? found->at(0) : *found;
    const bool fits = number.is_number_integer() && number >= 1 && number <= row.most;
    if (!fits) refuse(row.key, fmt::format("a whole number from 1 to {} belongs here", row.most));
    return number.get<std::int64_t>();
  }

  void complete(PretrainedModel& model) const {
    auto& shape = model.shape;
    if (shape.width % shape.heads != 0)
      fail(fmt::format("{} {} is not a multiple of {} {}", family_->width_key, shape.width,
                       family_->heads_key, shape.heads));
    if (shape.feed_forward == 0) shape.feed_forward = 4 * shape.width;
    if (model.family == Family::kVit && (shape.patch > shape.image || shape.image % shape.patch != 0))
      fail(fmt::format("image_size {} is not a multiple of patch_size {}", shape.image, shape.patch));
    if (model.head == Head::kTokenScores) check_fixed(std::array{FixedKey{"tie_word_embeddings", "true"}});
    shape.tanh_gelu = tanh_gelu();
    shape.eps = eps();
    if (model.head == Head::kClasses || model.head == Head::kTokenClasses) shape.labels = labels();
  }

  [[nodiscard]] bool tanh_gelu() const {
    const auto* name = value(family_->activation_key);
    for (const auto& row : kActivations)
      if (name ? *name == row.name : family_->activation == row.name) return row.tanh;
    refuse(family_->activation_key,
           fmt::format("built in are {}", listed(kActivations, &ActivationRow::name)));
  }

  [[nodiscard]] double eps() const {
    const auto* number = value(family_->eps_key);
    if (!number) return family_->eps;
    if (!number->is_number() || *number <= 0 || *number >= 1)
      refuse(family_->eps_key, "a number between 0 and 1 belongs here");
    return number->get<double>();
  }

  // The number of label names; else the given number; else two.
  [[nodiscard]] std::int64_t labels() const {
    const auto* names = value("id2label");
    if (names && names->is_object() && !names->empty() && names->size() <= kMaxLabels)
      return static_cast<std::int64_t>(names->size());
    if (names) refuse("id2label", "a map from numbers to names belongs here");
    return size_of({"num_labels", &Shape::labels, 2, kMaxLabels});
  }

  fs::path file_;
  nlohmann::json json_;
  const FamilyRow* family_ = nullptr;
};

}  // namespace

std::string_view family_name(TransformerFamily family) {
  return std::find_if(kFamilies.begin(), kFamilies.end(),
                      [&](const auto& row) { return row.family == family; })
      ->model_type;
}

std::optional<TransformerFamily> find_family(std::string_view model_type) {
  for (const auto& row : kFamilies)
    if (row.model_type == model_type) return row.family;
  return std::nullopt;
}

bool is_pretrained_folder(const fs::path& folder) {
  std::error_code error;
  return fs::is_directory(folder, error) && fs::exists(folder / "config.json", error);
}

fs::path pretrained_weights(const fs::path& folder) {
  std::error_code error;
  for (const auto name : kPretrainedWeights)
    if (fs::exists(folder / name, error)) return folder / name;
  return folder / kPretrainedWeights.front();
}

std::map<std::string, fs::path> indexed_weights(const fs::path& index) {
  const auto json = json_or_discarded(read_foreign(index, Foreign::kPretrained));
  const auto refuse = [&](const std::string& why) {
    throw Error(ErrorCode::kData,
                fmt::format("'{}': {}; copy the whole folder again", shown_path(index.string()), why));
  };
  if (!json.is_object() || !json.contains("weight_map") || !json["weight_map"].is_object())
    refuse("it has no weight_map from tensors to files");
  std::map<std::string, fs::path> files;
  for (const auto& [tensor, file] : json["weight_map"].items()) {
    const fs::path name = file.is_string() ? file.get<std::string>() : std::string();
    if (name.empty() || name != name.filename())
      refuse(fmt::format("{} is in {}, which is no file beside it", tensor, shown_value(file.dump())));
    files[tensor] = index.parent_path() / name;
  }
  return files;
}

PretrainedModel read_pretrained_model(const fs::path& folder) {
  return ConfigReader(folder).read();
}

std::string folder_name(const fs::path& folder) {
  std::error_code error;
  const auto whole = fs::absolute(folder, error).lexically_normal();
  return (whole.has_filename() ? whole : whole.parent_path()).filename().string();
}

}  // namespace paceline
