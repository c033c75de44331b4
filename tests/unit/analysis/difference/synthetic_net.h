// SPDX-License-Identifier: MIT
// Makes nets of timed layers with seeded noise.
#pragma once
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "analysis/difference/timed_parts.h"
#include "base/random.h"

namespace paceline::analysis::difference {

constexpr std::size_t kIterations = 8;
constexpr int kSeeds = 20;
constexpr double kNoise = 0.02;      // relative standard deviation of one layer in one iteration
constexpr double kOutside = 20'000;  // ns per iteration that are in no layer

struct NetLayer {
  PartSignature is;
  double ns = 0;
  double calls = 1;
  std::string note{};
};
using Net = std::vector<NetLayer>;

// Blocks of convolution, batch norm and ReLU. Names are the model's ("layer3.conv"); convolutions take most.
inline Net net_of(std::uint64_t seed, const std::string& precision = "fp32") {
  const CounterRng draw(seed, hash64("net"));
  const auto blocks = 7 + draw.below(0, 60);  // 21 to 198 layers
  Net net;
  for (std::uint64_t k = 0; k < blocks; ++k) {
    const double conv_ns = 100'000 * std::exp(0.8 * draw.normal(k));
    net.push_back({{"Conv", fmt::format("layer{}.conv", k), {}, precision}, conv_ns});
    net.push_back({{"BatchNormalization", fmt::format("layer{}.bn", k), {}, precision}, conv_ns / 8});
    net.push_back({{"Relu", fmt::format("layer{}.relu", k), {}, precision}, conv_ns / 12});
  }
  return net;
}

// Names count the layers of each type, as profilers of operators do: "conv_17".
inline void number_layers(Net& net) {
  std::vector<std::string> types;
  std::vector<int> counts;
  for (auto& layer : net) {
    const auto at = static_cast<std::size_t>(std::ranges::find(types, layer.is.category) - types.begin());
    if (at == types.size()) types.push_back(layer.is.category), counts.push_back(0);
    layer.is.name = fmt::format("{}_{}", layer.is.category, counts[at]++);
  }
}

// Measures the net: `side` tells the noise of two measurements of one seed apart.
inline TimedParts measured(const Net& net, std::uint64_t seed, int side,
                           std::size_t iterations = kIterations) {
  TimedParts parts{.unit_words = "inference"};
  parts.total_ns.assign(iterations, kOutside);
  for (std::size_t k = 0; k < net.size(); ++k) {
    const CounterRng noise(seed * 2 + static_cast<std::uint64_t>(side), hash64("noise") + k);
    auto& part = parts.parts.emplace_back(TimedPart{net[k].is, net[k].calls, {}, net[k].note});
    for (std::size_t i = 0; i < iterations; ++i) {
      part.times_ns.push_back(net[k].ns * (1 + kNoise * noise.normal(i)));
      parts.total_ns[i] += part.times_ns.back();
    }
  }
  return parts;
}

// Index of the convolution whose time is the `rank`-th of all, from the longest.
inline std::size_t long_conv(const Net& net, std::size_t rank) {
  std::vector<std::size_t> at;
  for (std::size_t i = 0; i < net.size(); i += 3) at.push_back(i);
  std::ranges::sort(at, std::greater{}, [&](std::size_t i) { return net[i].ns; });
  return at[rank % at.size()];
}

}  // namespace paceline::analysis::difference
