// SPDX-License-Identifier: MIT
// Prices pairs of parts by their signatures.
#include <algorithm>
#include <cmath>

#include "analysis/difference/alignment.h"

namespace paceline::analysis::difference {
namespace {

// Two parts left alone cost 2: a pair whose name, shape and time all differ is not one.
constexpr double kOtherNumber = 0.02;     // of a positional name
constexpr double kNormalisedEqual = 0.1;  // names that differ in case, separators or outer scope
constexpr double kOtherType = 0.5;        // engines that name the same layer's type differently
constexpr double kEqualStem = 0.6;        // layer1.0.conv1 and layer1.1.conv1
constexpr double kOtherName = 1.0;
constexpr double kOtherLayer = 1.2;
constexpr double kOtherShape = 0.7;
constexpr double kOtherPrecision = 0.05;
// Tells parts apart that share their names, and places an insertion among parts that are only numbered.
constexpr double kTimeWeight = 0.3;
constexpr double kTimeLimit = 1.0;  // ln(ratio) beyond which times say no more

bool differ(int a, int b) {
  return a != kUnknown && b != kUnknown && a != b;
}
bool agree(int a, int b) {
  return a != kUnknown && a == b;
}

double name_cost(const PartKey& a, const PartKey& b) {
  if (agree(a.layer, b.layer)) return 0;
  if (agree(a.name, b.name)) return 0;
  if (a.positional && b.positional) return kOtherNumber;
  if (agree(a.normal, b.normal)) return kNormalisedEqual;
  if (agree(a.layer, b.normal) || agree(a.normal, b.layer)) return kNormalisedEqual;
  if (agree(a.stem, b.stem)) return kEqualStem;
  return differ(a.layer, b.layer) ? kOtherLayer : kOtherName;
}

}  // namespace

double pair_cost(const PartKey& a, const PartKey& b) {
  double cost = name_cost(a, b);
  if (a.family != b.family) {
    const bool same_name = !a.positional && !b.positional && agree(a.name, b.name);
    if (!same_name) return kNeverPaired;
    cost += kOtherType;
  }
  if (differ(a.shape, b.shape)) cost += kOtherShape;
  if (differ(a.precision, b.precision)) cost += kOtherPrecision;
  return cost + kTimeWeight * std::min(kTimeLimit, std::abs(a.log_ns - b.log_ns));
}

}  // namespace paceline::analysis::difference
