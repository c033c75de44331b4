// SPDX-License-Identifier: MIT
#include "answer/render/html.h"

#include <fmt/format.h>

#include <algorithm>

#include "answer/render/escape.h"
#include "answer/render/svg.h"

namespace paceline::answer {
namespace {

// Widths of a plot alone in its row, and of two side by side, on the widest page.
constexpr double kWholeWidth = 1060, kHalfWidth = 530;

std::string content_html(const Cell& cell) {
  std::string out = escape_html(cell.text);
  if (!cell.badge.empty()) out = fmt::format("<span class=\"{}\">{}</span>", cell.badge, out);
  if (!cell.link.empty()) out = fmt::format("<a href=\"#{}\">{}</a>", cell.link, out);
  if (!cell.code.empty()) out += fmt::format("{}<code>{}</code>", out.empty() ? "" : "<br>", cell.code);
  if (!cell.folded.empty())
    out += fmt::format(" <details><summary>{}</summary>{}</details>", cell.fold, escape_html(cell.folded));
  return out;
}

std::string head_html(const Table& table) {
  std::string out = "<thead><tr>";
  for (std::size_t at = 0; at < table.heads.size(); ++at) {
    const auto* kind = table.is_number(at) ? "number" : "text";
    const auto marks = table.sortable ? fmt::format(" scope=\"col\" class=\"{0}\" data-sort=\"{0}\"", kind)
                       : table.is_number(at) ? " class=\"number\""
                                             : "";
    out += fmt::format("<th{}>{}</th>", marks, escape_html(table.heads[at]));
  }
  return out + "</tr></thead>";
}

std::string cell_html(const Table& table, const Cell& cell, std::size_t at) {
  if (at == 0 && table.row_heads) return fmt::format("<th scope=\"row\">{}</th>", content_html(cell));
  std::string css = table.is_number(at) ? "number" : "";
  if (!cell.css.empty()) css += (css.empty() ? "" : " ") + cell.css;
  return fmt::format("<td{}{}>{}</td>", css.empty() ? "" : fmt::format(" class=\"{}\"", css),
                     cell.sorted_by ? fmt::format(" data-value=\"{:.6g}\"", *cell.sorted_by) : "",
                     content_html(cell));
}

std::string row_html(const Table& table, const Row& row) {
  std::string out = row.id.empty() ? "<tr>" : fmt::format("<tr id=\"{}\">", row.id);
  for (std::size_t at = 0; at < row.cells.size(); ++at) out += cell_html(table, row.cells[at], at);
  if (!row.instead.empty())
    out += fmt::format("<td class=\"outcome\" colspan=\"{}\">{}</td>", table.heads.size() - row.cells.size(),
                       escape_html(row.instead));
  return out + "</tr>\n";
}

std::string all_of(const std::vector<std::string>& texts, std::string_view format) {
  std::string out;
  for (const auto& text : texts)
    if (!text.empty()) out += fmt::format(fmt::runtime(format), escape_html(text));
  return out;
}

}  // namespace

std::string scrolling(const std::string& html) {
  return fmt::format("<div class=\"scroll\" tabindex=\"0\">{}</div>\n", html);
}

std::string bare_html_of(const Table& table) {
  const auto marks = table.sortable      ? " id=\"case-table\""
                     : table.css.empty() ? ""
                                         : fmt::format(" class=\"{}\"", table.css);
  std::string out = table.above.empty() ? "" : fmt::format("<p>{}</p>\n", escape_html(table.above));
  out += fmt::format("<table{}>{}<tbody>\n", marks, table.heads.empty() ? "" : head_html(table));
  for (const Row& row : table.rows) out += row_html(table, row);
  return out + "</tbody></table>\n";
}

std::string html_of(const Table& table) {
  if (table.rows.empty()) return {};
  return table.css.empty() ? scrolling(bare_html_of(table)) : bare_html_of(table);
}

std::string formula_link(std::string_view metric) {
  if (metric.empty()) return {};
  return fmt::format("<a class=\"formula\" href=\"#formula-{}\">formula</a>", metric);
}

std::string html_of(const Chart& chart) {
  std::string plots;
  for (const Plot& plot : chart.plots)
    plots += svg_of(plot, {.width = chart.plots.size() == 1 ? kWholeWidth : kHalfWidth});
  if (chart.reading.empty() || plots.empty()) return {};
  return fmt::format(
      "<figure{}>{}<div class=\"plots\" data-chart=\"{}\">{}</div><figcaption>{} {}</figcaption></figure>\n",
      chart.of_case.empty() ? fmt::format(" id=\"chart-{}\"", chart.id) : "",
      chart.title.empty() ? "" : fmt::format("<h3>{}</h3>", chart.title), chart.id, plots,
      escape_html(chart.reading), formula_link(chart.metric));
}

std::string html_of(const Section& section) {
  const std::string link = section.metric.empty() ? "" : ". " + formula_link(section.metric);
  std::string body = html_of(section.chart) + html_of(section.table);
  body += all_of(section.warnings, "<p class=\"warning\">{}</p>\n");
  body += all_of(section.paragraphs, "<p>{}" + link + "</p>\n");
  body += all_of({section.command, section.log}, "<pre>{}\n</pre>\n");
  for (const auto& note : section.notes)
    body += fmt::format("<p class=\"note\">{}{}</p>\n", escape_html(note), note.ends_with('.') ? "" : ".");
  return body.empty() || section.title.empty()
             ? body
             : fmt::format("<h4>{}</h4>\n{}", escape_html(section.title), body);
}

std::string html_of(const Sections& sections) {
  std::string out;
  for (const Section& section : sections) out += html_of(section);
  return out;
}

}  // namespace paceline::answer
