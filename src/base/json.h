// SPDX-License-Identifier: MIT
// Includes nlohmann's JSON, and holds a number that is read as an integer to that type.
#pragma once
#include <cmath>
#include <concepts>
#include <cstdint>
#include <limits>
#include <nlohmann/json.hpp>
#include <utility>

namespace paceline {

// JSON's number is a T: neither beyond its range nor with a fraction.
template <std::integral T>
[[nodiscard]] bool is_whole_number_of(const auto& number) {
  if (number.is_number_unsigned()) return std::in_range<T>(number.template get_ref<const std::uint64_t&>());
  if (number.is_number_integer()) return std::in_range<T>(number.template get_ref<const std::int64_t&>());
  const auto value = number.template get_ref<const double&>();
  return value >= static_cast<double>(std::numeric_limits<T>::min()) &&
         value < std::ldexp(1.0, std::numeric_limits<T>::digits) && value == std::trunc(value);
}

}  // namespace paceline

// Replaces nlohmann's conversion, which is undefined for 1e300 and cuts 3.5: both are a type_error here.
// Every unit that converts must see it, so nothing else includes nlohmann/json.hpp.
template <typename T>
requires(std::integral<T> && !std::same_as<T, bool>) struct nlohmann::adl_serializer<T, void> {
  static void from_json(const auto& json, T& value) {
    if (json.is_number() && !paceline::is_whole_number_of<T>(json))
      throw nlohmann::json::type_error::create(302, json.dump() + " is no whole number within its range",
                                               &json);
    nlohmann::from_json(json, value);
  }
  static void to_json(auto& json, T value) { nlohmann::to_json(json, value); }
};
