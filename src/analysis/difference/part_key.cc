// SPDX-License-Identifier: MIT
#include "analysis/difference/part_key.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <utility>

#include "base/lower_case.h"
#include "stats/spread.h"

namespace paceline::analysis::difference {
namespace {

constexpr std::array<std::string_view, 5> kOuterScopes{"model.", "module.", "main.graph.", "graph.", "self."};
constexpr std::array<std::string_view, 8> kTypeAffixes{"qlinear", "quantized", "fused", "integer",
                                                       "nbits",   "dynamic",   "cudnn", "mkldnn"};
constexpr std::string_view kMadeUp =
    "token";  // of names that ONNX Runtime makes up: "ReorderOutput_token_180"
constexpr std::array<std::string_view, 4> kSeparators{"+", "||", "&", ","};
constexpr std::array<std::string_view, 14> kFoldable{"relu", "relu6",     "clip",  "sigmoid",  "silu",
                                                     "gelu", "hardswish", "mul",   "add",      "bias",
                                                     "tanh", "leakyrelu", "swish", "batchnorm"};

struct Alias {
  std::string_view type, family;
};
constexpr std::array<Alias, 16> kAliases{{{"convolution", "conv"},
                                          {"conv1d", "conv"},
                                          {"conv2d", "conv"},
                                          {"conv3d", "conv"},
                                          {"groupconvolution", "conv"},
                                          {"linear", "matmul"},
                                          {"addmm", "matmul"},
                                          {"mm", "matmul"},
                                          {"bmm", "matmul"},
                                          {"gemm", "matmul"},
                                          {"fullyconnected", "matmul"},
                                          {"innerproduct", "matmul"},
                                          {"batchnormalization", "batchnorm"},
                                          {"batchnorm2d", "batchnorm"},
                                          {"maxpool2d", "maxpool"},
                                          {"averagepool", "avgpool"}}};

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

std::string without_digits(std::string_view text) {
  std::string out;
  for (const char c : text)
    if (!is_digit(c)) out += c;
  while (out.ends_with('.')) out.pop_back();
  return out;
}

std::string letters_of(std::string_view text) {
  std::string out;
  for (const char c : text)
    if (is_letter_or_digit(c)) out += lower_case(c);
  return out;
}

void remove_all(std::string& text, std::string_view word) {
  for (auto at = text.find(word); at != std::string::npos && text.size() > word.size(); at = text.find(word))
    text.erase(at, word.size());
}

// Last word of a type: "aten::conv2d" -> "conv2d".
std::string last_word(std::string_view type) {
  const auto at = type.find_last_of(":.");
  return letters_of(at == std::string_view::npos ? type : type.substr(at + 1));
}

bool says_fused(const PartSignature& is) {
  return lower_case(is.name).find("fus") != std::string::npos ||
         lower_case(is.category).find("fus") != std::string::npos;
}

// Gives equal texts equal numbers.
class Numbers {
 public:
  int of(const std::string& text) {
    if (text.empty()) return kUnknown;
    return numbers_.try_emplace(text, static_cast<int>(numbers_.size())).first->second;
  }

 private:
  std::map<std::string, int> numbers_;
};

std::vector<int> covered_by(const PartSignature& is, Numbers& numbers) {
  std::vector<int> covers;
  for (const auto* text : {&is.name, &is.model_layer}) {
    const auto names = combined_names(*text);
    for (const auto& name : names)
      if (names.size() > 1) covers.push_back(numbers.of(normal_name(name)));
  }
  std::ranges::sort(covers);
  covers.erase(std::unique(covers.begin(), covers.end()), covers.end());
  return covers;
}

PartKey key_of(const TimedPart& part, Numbers& numbers) {
  const auto& is = part.is;
  const auto normal = normal_name(is.name), family = type_family(is.category);
  return {.name = numbers.of(is.name),
          .normal = numbers.of(normal),
          .stem = numbers.of(without_digits(normal)),
          .family = numbers.of(family),
          .layer = numbers.of(normal_name(is.model_layer)),
          .precision = numbers.of(is.precision),
          .shape = numbers.of(is.shape),
          .positional = is_positional(is.name, is.category),
          .foldable = std::ranges::find(kFoldable, family) != kFoldable.end(),
          .says_fused = says_fused(is),
          .log_ns = part.times_ns.empty() ? 0 : std::log(std::max(1.0, stats::mean(part.times_ns))),
          .covers = covered_by(is, numbers)};
}

std::map<int, int> parts_per_layer(const std::vector<PartKey>& keys) {
  std::map<int, int> counts;
  for (const auto& key : keys)
    if (key.layer != kUnknown) ++counts[key.layer];
  return counts;
}

void mark_shared_layers(std::vector<PartKey>& keys, const std::map<int, int>& own,
                        const std::map<int, int>& other) {
  for (auto& key : keys) {
    const auto at = other.find(key.layer);
    key.shares_layer = at != other.end() && own.at(key.layer) < at->second;
  }
}

}  // namespace

std::string normal_name(std::string_view name) {
  std::string out;
  for (const char c : name) {
    if (is_letter_or_digit(c))
      out += lower_case(c);
    else if (!out.empty() && out.back() != '.')
      out += '.';
  }
  while (out.ends_with('.')) out.pop_back();
  for (const auto scope : kOuterScopes)
    if (out.starts_with(scope)) out.erase(0, scope.size());
  return out;
}

std::string type_family(std::string_view type) {
  auto word = last_word(type);
  for (const auto affix : kTypeAffixes) remove_all(word, affix);
  const auto alias = std::ranges::find(kAliases, word, &Alias::type);
  return alias == kAliases.end() ? word : std::string(alias->family);
}

bool is_positional(std::string_view name, std::string_view type) {
  auto stem = letters_of(name);
  while (!stem.empty() && is_digit(stem.back())) stem.pop_back();
  if (stem.ends_with(kMadeUp)) stem.resize(stem.size() - kMadeUp.size());
  auto word = last_word(type);
  if (letters_of(name) == word || letters_of(name) == letters_of(type)) return true;
  while (!word.empty() && is_digit(word.back())) word.pop_back();
  return stem.empty() || stem == word || stem == type_family(type) || stem == letters_of(type);
}

std::vector<std::string> combined_names(std::string_view name) {
  std::vector<std::string> names(1);
  for (std::size_t i = 0; i < name.size();) {
    const auto* const separator = std::ranges::find_if(
        kSeparators, [&](std::string_view one) { return name.substr(i).starts_with(one); });
    if (separator == kSeparators.end()) {
      names.back() += name[i++];
      continue;
    }
    i += separator->size();
    names.emplace_back();
  }
  std::erase_if(names, [](const std::string& one) { return normal_name(one).empty(); });
  return names;
}

PartKeys keys_of(const TimedParts& a, const TimedParts& b) {
  Numbers numbers;
  PartKeys keys;
  for (const auto& part : a.parts) keys.a.push_back(key_of(part, numbers));
  for (const auto& part : b.parts) keys.b.push_back(key_of(part, numbers));
  const auto in_a = parts_per_layer(keys.a), in_b = parts_per_layer(keys.b);
  mark_shared_layers(keys.a, in_a, in_b);
  mark_shared_layers(keys.b, in_b, in_a);
  return keys;
}

}  // namespace paceline::analysis::difference
