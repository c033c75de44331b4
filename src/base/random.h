// SPDX-License-Identifier: MIT
// Counter-based random numbers: the same in any process and in any order.
#pragma once
#include <cmath>
#include <cstdint>
#include <numbers>
#include <string_view>

namespace paceline {

// SplitMix64's output function (Steele, Lea, Flood 2014): a good 64-bit mixer.
constexpr std::uint64_t mix64(std::uint64_t z) {
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
  return z ^ (z >> 31);
}

// FNV-1a, for stable stream keys from names.
constexpr std::uint64_t hash64(std::string_view text) {
  std::uint64_t h = 0xcbf29ce484222325ULL;
  for (char c : text) h = (h ^ static_cast<unsigned char>(c)) * 0x100000001b3ULL;
  return h;
}

// Counter-based generator: value i of stream (seed, key) is a pure function of the three, so that any
// process, thread or order of drawing gives the same numbers.
class CounterRng {
 public:
  constexpr CounterRng(std::uint64_t seed, std::uint64_t key)
      : base_(mix64(seed ^ mix64(key + 0x9e3779b97f4a7c15ULL))) {}
  [[nodiscard]] constexpr std::uint64_t bits(std::uint64_t index) const {
    return mix64(base_ + (index + 1) * 0x9e3779b97f4a7c15ULL);
  }
  // Uniform in [0, 1), 53 bits.
  [[nodiscard]] constexpr double uniform(std::uint64_t index) const {
    return static_cast<double>(bits(index) >> 11) * 0x1.0p-53;
  }
  // Standard normal by Box-Muller on two uniforms.
  [[nodiscard]] double normal(std::uint64_t index) const {
    const double radius = std::sqrt(-2.0 * std::log(1.0 - uniform(2 * index)));
    return radius * std::cos(2.0 * std::numbers::pi * uniform(2 * index + 1));
  }
  // Integer in [0, bound).
  [[nodiscard]] constexpr std::uint64_t below(std::uint64_t index, std::uint64_t bound) const {
    return static_cast<std::uint64_t>(uniform(index) * static_cast<double>(bound));
  }

 private:
  std::uint64_t base_;
};

}  // namespace paceline
