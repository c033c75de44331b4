// SPDX-License-Identifier: MIT
// Converts and checks one value of an option.
#pragma once
#include <optional>
#include <string>

#include "config/flags.h"
#include "config/option_table.h"
#include "config/settings.h"

namespace paceline::config {

struct ExtraNames;

// Names for kModel and kEngine options beside the vocabulary; `open`: a plug-in of the plan may add any.
struct NameSpace {
  const ExtraNames* extra = nullptr;
  bool open = false;
};

struct Converted {
  std::optional<Value> value;
  std::string problem;  // what is wrong with the text, when there is no value
};

// The one conversion of plan values and flags: type, range, choices. It is strict: 010, '', nan, inf and "8"
// in quotes are not numbers.
Converted convert(const Option& option, const RawValue& raw, const NameSpace& names = {});

// Whether the place of a value in a list has a meaning, so that equal values are no repetition.
bool counts_by_place(const Option& option);

// Whether the value is a device (cpu, cuda, cuda:1), whose name is in lower case.
bool names_a_device(const Option& option);

// What the option expects, in words: "a whole number", "one of fp32, bf16".
std::string expected_text(const Option& option);

}  // namespace paceline::config
