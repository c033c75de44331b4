// SPDX-License-Identifier: MIT
#pragma once
#include <string>
#include <string_view>

// Names of several builds of one model: model.plan, model.build2.plan, model.build3.plan …
namespace paceline {

// Of the build with this number, which counts from 1; the first one has the name asked for.
std::string numbered_build(std::string_view file, int number);

// The name of the first of them; any other name stays as it is.
std::string first_build(std::string_view file);

}  // namespace paceline
