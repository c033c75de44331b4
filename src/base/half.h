// SPDX-License-Identifier: MIT
#pragma once
#include <bit>
#include <cmath>
#include <cstdint>

// Converts 16-bit floating point held as bits: IEEE 754 binary16 and bfloat16.
namespace paceline {

constexpr float bfloat16_to_float(std::uint16_t bits) {
  return std::bit_cast<float>(static_cast<std::uint32_t>(bits) << 16);
}

// Rounds to nearest, ties to even; a value that would become infinite becomes the largest one, others stay.
inline std::uint16_t float_to_bfloat16(float value) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  if (!std::isfinite(value)) return static_cast<std::uint16_t>(bits >> 16 | (std::isnan(value) ? 0x40U : 0U));
  const auto rounded = static_cast<std::uint16_t>((bits + 0x7fffU + (bits >> 16 & 1U)) >> 16);
  return (rounded & 0x7fffU) < 0x7f80U ? rounded : static_cast<std::uint16_t>(rounded - 1);
}

constexpr float half_to_float(std::uint16_t bits) {
  const std::uint32_t sign = static_cast<std::uint32_t>(bits & 0x8000U) << 16;
  const std::uint32_t exponent = (bits >> 10) & 0x1fU, fraction = bits & 0x3ffU;
  if (exponent == 0) {
    const float magnitude = static_cast<float>(fraction) * 0x1.0p-24F;
    return sign ? -magnitude : magnitude;
  }
  const std::uint32_t e = exponent == 31 ? 255U : exponent + 112;
  return std::bit_cast<float>(sign | e << 23 | fraction << 13);
}

// Rounds to nearest, ties to even; values beyond 65504 (after rounding) become infinite, NaN stays NaN.
inline std::uint16_t float_to_half(float value) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  const auto sign = static_cast<std::uint16_t>((bits >> 16) & 0x8000U);
  const float magnitude = std::abs(value);
  if (std::isnan(value)) return static_cast<std::uint16_t>(sign | 0x7e00U);
  if (magnitude >= 65520.0F) return static_cast<std::uint16_t>(sign | 0x7c00U);
  if (magnitude < 0x1.0p-14F)  // subnormal: a multiple of 2^-24
    return static_cast<std::uint16_t>(sign |
                                      static_cast<std::uint32_t>(std::nearbyint(magnitude * 0x1.0p24F)));
  const std::uint32_t rounded = (bits & 0x7fffffffU) + 0xfffU + ((bits >> 13) & 1U);
  return static_cast<std::uint16_t>(sign | ((rounded >> 13) - (112U << 10)));
}

}  // namespace paceline
