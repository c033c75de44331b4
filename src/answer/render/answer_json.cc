// SPDX-License-Identifier: MIT
// An answer as JSON.
#include <cmath>

#include "answer/render/answer_forms.h"

namespace paceline::answer {
namespace {

using Json = nlohmann::json;

template <typename Rows, typename Of>
Json list_of(const Rows& rows, Of of) {
  Json all = Json::array();
  for (const auto& row : rows) all.push_back(of(row));
  return all;
}

Json check_json(const Check& check) {
  return {{"name", check.name},
          {"status", traits_of(check.verdict).of_machine},
          {"text", check.text},
          {"fix", check.fix}};
}

Json finding_json(const Finding& finding) {
  return {{"id", finding.id},      {"severity", finding.severity}, {"text", finding.text},
          {"cost", finding.cost},  {"evidence", finding.evidence}, {"advice", finding.advice},
          {"about", finding.about}};
}

Json table_json(const Table& table) {
  return {{"heads", table.heads}, {"rows", list_of(table.rows, [](const Row& row) {
                                     Json cells = list_of(row.cells, [](const Cell& c) { return c.text; });
                                     if (!row.instead.empty()) cells.push_back(row.instead);
                                     return cells;
                                   })}};
}

Json number(double value) {
  return std::isfinite(value) ? Json(value) : Json();
}

Json plot_json(const Plot& plot) {
  return {{"title", plot.title},
          {"x", plot.x.title},
          {"y", plot.y.title},
          {"series", list_of(plot.lines, [](const Line& line) {
             return Json{{"name", line.name}, {"points", list_of(line.points, [](const Point& at) {
                                                 return Json::array({number(at.x), number(at.y)});
                                               })}};
           })}};
}

Json section_json(const Section& section) {
  Json out{{"title", section.title}};
  if (!section.paragraphs.empty()) out["paragraphs"] = section.paragraphs;
  if (!section.table.rows.empty()) out["table"] = table_json(section.table);
  if (!section.chart.plots.empty()) out["plots"] = list_of(section.chart.plots, plot_json);
  if (!section.notes.empty()) out["notes"] = section.notes;
  return out;
}

}  // namespace

Json json_of(const Answer& answer) {
  Json out = answer.data;
  const auto add = [&](const char* name, Json value) {
    if (!out.contains(name)) out[name] = std::move(value);
  };
  add("title", answer.title);
  add("sentence", answer.sentence);
  add("checks", list_of(answer.checks, check_json));
  add("findings", list_of(answer.findings, finding_json));
  add("sections", list_of(answer.sections, section_json));
  add("remarks", answer.remarks);
  return out;
}

}  // namespace paceline::answer
