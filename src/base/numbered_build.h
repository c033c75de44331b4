// SPDX-License-Identifier: MIT
#pragma once
#include <string>
#include <string_view>

// Makes names for several builds of one model: model.plan, model.build2.plan, model.build3.plan …
namespace paceline {

// The name of a build with this number, counted from 1; the first has the name asked for.
std::string numbered_build(std::string_view file, int number);

// The name of the first build; any other name is returned as it is.
std::string first_build(std::string_view file);

}  // namespace paceline
