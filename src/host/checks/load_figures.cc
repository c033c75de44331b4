// SPDX-License-Identifier: MIT
#include "host/checks/load_figures.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/units.h"

namespace paceline::host {
namespace {

struct Scale {
  double factor;
  const char* prefix;
};
constexpr std::array<Scale, 4> kScales{{{1e12, "T"}, {1e9, "G"}, {1e6, "M"}, {1, ""}}};

}  // namespace

std::string shown_figure(const LoadFigure& figure) {
  const auto& scale = *std::ranges::find_if(
      kScales, [&](const Scale& s) { return figure.median >= s.factor || s.factor == 1; });
  const auto scaled = [&](double value) { return format_significant(value / scale.factor); };
  return fmt::format("{} {}{} ({}–{})", scaled(figure.median), scale.prefix, figure.unit, scaled(figure.low),
                     scaled(figure.high));
}

bool is_slower(const LoadFigure& figure, const LoadFigure& other) {
  return figure.high < (1 - kSlowerBy) * other.low;
}

Verdict slow_status(const Machine& machine, const LoadFigure& figure) {
  return machine.load_disturbed && figure.where.starts_with("CPU") ? Verdict::kReservedly : Verdict::kNo;
}

}  // namespace paceline::host
