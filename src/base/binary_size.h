// SPDX-License-Identifier: MIT
// Writes message sizes, which are powers of 1024 or plain numbers, without rounding them.
#pragma once
#include <fmt/format.h>

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

namespace paceline {

struct BinaryUnit {
  std::int64_t bytes;
  std::string_view words, typed;
};
inline constexpr std::array<BinaryUnit, 4> kBinaryUnits{
    {{1LL << 30, " GiB", "G"}, {1LL << 20, " MiB", "M"}, {1LL << 10, " KiB", "K"}, {1, " B", ""}}};

// The largest unit of which the size is a whole number.
inline const BinaryUnit& unit_of(std::int64_t bytes) {
  for (const auto& unit : kBinaryUnits)
    if (bytes >= unit.bytes && bytes % unit.bytes == 0) return unit;
  return kBinaryUnits.back();
}

// For people: "64 MiB", "100 B".
inline std::string exact_bytes(std::int64_t bytes) {
  return fmt::format("{}{}", bytes / unit_of(bytes).bytes, unit_of(bytes).words);
}

// As an option takes it: "64M", "100".
inline std::string typed_bytes(std::int64_t bytes) {
  return fmt::format("{}{}", bytes / unit_of(bytes).bytes, unit_of(bytes).typed);
}

}  // namespace paceline
