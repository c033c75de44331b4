// SPDX-License-Identifier: MIT
#pragma once
#include <optional>
#include <string>

#include "config/flags.h"
#include "config/option_table.h"
#include "config/settings.h"

namespace paceline::config {

struct ExtraNames;

// Names that kModel and kEngine options accept beside the vocabulary; `open`: a plug-in of the plan may bring
// any.
struct NameSpace {
  const ExtraNames* extra = nullptr;
  bool open = false;
};

struct Converted {
  std::optional<Value> value;
  std::string problem;  // what is wrong with the text, when there is no value
};

// The one conversion of plan values and flags: type, range, choices. Strict: 010, '', nan, inf, "8" in quotes
// are no numbers.
Converted convert(const Option& option, const RawValue& raw, const NameSpace& names = {});

// Whether the values of a list mean something by their place, so that equal ones are no repetition.
bool counts_by_place(const Option& option);

// cpu, cuda, cuda:1: names in lower case.
bool names_a_device(const Option& option);

// What belongs there, in words: "a whole number", "one of fp32, bf16".
std::string expected_text(const Option& option);

}  // namespace paceline::config
