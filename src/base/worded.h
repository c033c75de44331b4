// SPDX-License-Identifier: MIT
#pragma once
#include <string_view>

namespace paceline {

// A value of an enumeration that files name by the words of one column, e.g. Worded<&SpeedTraits::of_cases>.
// Its row has the enumeration as Value and a kDefault; rows_of() and traits_of() of the enumeration, in its
// order, return all rows and its own.
template <auto column>
struct Worded;
template <class Row, std::string_view Row::*column>
struct Worded<column> {
  using Value = typename Row::Value;
  constexpr Worded(Value v = Row::kDefault) : value(v) {}
  [[nodiscard]] constexpr std::string_view words() const { return traits_of(value).*column; }
  friend constexpr bool operator==(Worded one, Worded other) { return one.value == other.value; }
  friend constexpr bool operator==(Worded one, Value other) { return one.value == other; }

  Value value;
};

}  // namespace paceline
