// SPDX-License-Identifier: MIT
// Signatures as numbers, so that pairs of parts are compared without text.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "analysis/difference/timed_parts.h"

namespace paceline::analysis::difference {

inline constexpr int kUnknown = -1;

// Equal numbers stand for equal texts on both sides; kUnknown: the part does not say.
struct PartKey {
  int name = kUnknown;    // as written
  int normal = kUnknown;  // normalised name
  int stem = kUnknown;    // without digits
  int family = kUnknown;  // of its type
  int layer = kUnknown;   // of the model, normalised
  int precision = kUnknown;
  int shape = kUnknown;
  bool positional = false;  // the name counts parts of its type ("conv2d_3"): it says nothing about which one
  bool foldable = false;    // an activation or the like, which compilers fold into what feeds it
  bool says_fused = false;  // its name or type does
  bool shares_layer = false;  // fewer parts of its side have this model layer than of the other side
  double log_ns = 0;          // of the mean time
  std::vector<int> covers{};  // normalised names that it combines, sorted; empty: fewer than two
};

struct PartKeys {
  std::vector<PartKey> a, b;
};

PartKeys keys_of(const TimedParts& a, const TimedParts& b);

// "model.layer1.0/Conv" -> "layer1.0.conv".
std::string normal_name(std::string_view name);
// Word for a type in which engines and precisions agree: "com.microsoft.QLinearConv" -> "conv".
std::string type_family(std::string_view type);
// Whether the name is only the type, or the type and a number.
bool is_positional(std::string_view name, std::string_view type);
// "Conv_0 + Relu_0", "conv1+bn1+relu" -> their names; one element where nothing is combined.
std::vector<std::string> combined_names(std::string_view name);

}  // namespace paceline::analysis::difference
