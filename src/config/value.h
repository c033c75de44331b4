// SPDX-License-Identifier: MIT
// Converts and checks one value of an option.
#pragma once
#include <optional>
#include <string>

#include "config/extra_names.h"
#include "config/option.h"
#include "config/raw_setting.h"
#include "config/settings.h"

namespace paceline::config {

struct Converted {
  std::optional<Value> value;
  std::string problem;  // what is wrong with the text, when there is no value
};

// The one conversion of plan values and flags: type, range, choices. It is strict: 010, '', nan, inf and "8"
// in quotes are not numbers.
Converted convert(const Option& option, const RawValue& raw, const NameSpace& names = {});

// Whether these are the values that the option has where nothing is written: its default, or none.
bool is_default(const Option& option, const std::vector<Value>& values);

// Whether a case has the value that is the option's owner.
bool has_owner(const Settings& settings, const Option& option);

// Gives a case that has it the option's default, unless it has a value.
void set_owned_default(Settings& settings, const Option& option);

// Whether the value is a device (cpu, cuda, cuda:1), whose name is in lower case.
bool names_a_device(const Option& option);

// Describes valid values: "a whole number", "one of fp32, bf16".
std::string expected_text(const Option& option);

}  // namespace paceline::config
