// SPDX-License-Identifier: MIT
#include "host/checks/differences.h"

#include <fmt/format.h>

#include <algorithm>

#include "host/checks/check_fields.h"
#include "host/checks/fact_rules.h"
#include "host/checks/load_figures.h"

namespace paceline::host {
PACELINE_FIELDS(Difference, name, status, found, expected, fix);

namespace {

void compare(const Fact& found, const Fact& expected, std::vector<Difference>& all) {
  if (const auto status = judge(found, expected))
    all.push_back({found.name, shown_value(found), shown_value(expected), *status,
                   std::string(rule_of(found.name).fix)});
}

constexpr const char* kSlowFix =
    "load it again when nothing else runs; if it stays slow, look at clocks, cooling and power, and leave it "
    "out of runs";

const LoadFigure* find_figure(const std::vector<LoadFigure>& figures, const std::string& name) {
  const auto found = std::ranges::find(figures, name, &LoadFigure::name);
  return found == figures.end() ? nullptr : &*found;
}

// Adds what is slower, faster (WARN) or missing (FAIL).
void compare_load(const Machine& found, const std::vector<LoadFigure>& expected,
                  std::vector<Difference>& all) {
  for (const auto& figure : expected) {
    const auto* here = find_figure(found.load, figure.name());
    if (!here)
      all.push_back({figure.name(), "not measured", shown_figure(figure), Verdict::kNo,
                     "paceline validate --load there shows why"});
    else if (is_slower(*here, figure))
      all.push_back(
          {figure.name(), shown_figure(*here), shown_figure(figure), slow_status(found, *here), kSlowFix});
    else if (is_slower(figure, *here))
      all.push_back({figure.name(), shown_figure(*here), shown_figure(figure), Verdict::kReservedly,
                     "save the file again: it contains a slower figure"});
  }
}

}  // namespace

std::vector<Difference> differences(const Machine& found, const Machine& expected) {
  std::vector<Difference> all;
  for (const auto& fact : expected.facts) {
    const auto* known = find_fact(found, fact.name);
    if (const auto here = known ? std::optional(*known) : absent_fact(fact.name)) compare(*here, fact, all);
  }
  for (const auto& fact : found.facts)
    if (const auto none = absent_fact(fact.name); none && !find_fact(expected, fact.name))
      compare(fact, *none, all);
  if (!found.load.empty() && !expected.load.empty()) compare_load(found, expected.load, all);
  std::stable_partition(all.begin(), all.end(), [](const auto& one) { return one.status == Verdict::kNo; });
  return all;
}

std::vector<CheckedRow> rows_of(const std::vector<Difference>& differences, const std::string& origin) {
  if (differences.empty()) return {{"as saved", {}, {Verdict::kYes, "nothing differs from " + origin, {}}}};
  std::vector<CheckedRow> rows;
  for (const auto& one : differences)
    rows.push_back(
        {one.name,
         {},
         {one.status, fmt::format("{} here, {} in {}", one.found, one.expected, origin), one.fix}});
  return rows;
}

nlohmann::json differences_json(const std::vector<Difference>& differences) {
  return archive::Writer::write(differences);
}

}  // namespace paceline::host
