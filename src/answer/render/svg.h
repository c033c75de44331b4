// SPDX-License-Identifier: MIT
#pragma once
#include <string>

#include "answer/plot.h"

// Draws a plot as SVG text. Equal plots give equal bytes.
namespace paceline::answer {

struct SvgOptions {
  double width = 760;
  bool standalone = false;  // a file with its own style; else a part of the page, whose style it takes
};

// Empty where the plot has no finite number.
std::string svg_of(const Plot& plot, const SvgOptions& options = {});

}  // namespace paceline::answer
