// SPDX-License-Identifier: MIT
#include "analysis/difference/difference_words.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/units.h"

namespace paceline::analysis::difference {
namespace {

using answer::kNone;

constexpr double kNsToMs = 1e-6;
constexpr double kMost = 0.5;          // of the difference: less in single parts is not its reason
constexpr double kMoreThanAll = 1.05;  // share beyond which a part is not "of" the difference

std::string signed_duration(double ns) {
  return fmt::format("{}{}", ns < 0 ? "−" : "+", format_duration_ns(std::abs(ns)));
}

// "+2.9–3.3 ms", or "−172 µs to +2.89 ms" where the signs differ.
std::string interval_words(const stats::Interval& one) {
  if (one.low < 0 && one.high > 0)
    return fmt::format("{} to {}", signed_duration(one.low), signed_duration(one.high));
  const double low = std::min(std::abs(one.low), std::abs(one.high)),
               high = std::max(std::abs(one.low), std::abs(one.high));
  return fmt::format("{}{}", one.low < 0 ? "−" : "+", format_duration_range_ns(low, high, high));
}

// Time outside of the parts is negative where a profiler made them longer than the whole.
std::string duration_or_none(const Number& ns) {
  if (!ns) return kNone;
  return *ns < 0 ? signed_duration(*ns) : format_duration_ns(*ns);
}

std::string lead_of(const DifferenceRow& row) {
  if (row.change == Change::kNew) return row.what + " is new and takes ";
  if (row.change == Change::kVanished) return row.what + " is gone, which takes ";
  return row.what + " takes ";
}

// "+2.9 to +3.3 ms" as positive numbers, where the difference is a saving.
std::string size_range(const DifferenceRow& row) {
  const auto [low, high] = row.interval;
  const bool more = row.difference_ns > 0;
  return format_duration_range_ns(more ? low : -high, more ? high : -low, std::abs(row.difference_ns));
}

std::string cause_words_of(const DifferenceRow& row, const Explanation& whole) {
  const auto size = std::abs(row.difference_ns), all = std::abs(whole.difference_ns);
  const auto* const word = whole.difference_ns > 0 ? "more" : "less";
  auto words = lead_of(row);
  if (size > kMoreThanAll * all)
    words += fmt::format("{} {} ({}), the whole {} {} {}", format_duration_ns(size), word, size_range(row),
                         whole.unit_words, format_duration_ns(all), word);
  else
    words += fmt::format("{} of the {} {} ({})", format_duration_ns(size), format_duration_ns(all), word,
                         size_range(row));
  return row.cause.empty() ? words : fmt::format("{}; {}", words, row.cause);
}

double explained_share(const Explanation& one) {
  double sum = 0;
  for (const auto& row : one.rows)
    if (row.change < Change::kRest) sum += row.difference_ns;
  return one.difference_ns != 0 ? sum / one.difference_ns : 0;
}

// The row of those without a single part that has most of the difference.
const DifferenceRow& largest_remainder(const Explanation& one) {
  return *std::ranges::max_element(one.rows, {}, [](const DifferenceRow& row) {
    return row.change < Change::kRest ? -1 : std::abs(row.difference_ns);
  });
}

std::string remainder_words(const Explanation& one, const DifferenceRow* cause) {
  const auto words = fmt::format("no single part explains {}the {} {}: {}", cause ? "most of " : "",
                                 format_duration_ns(std::abs(one.difference_ns)),
                                 one.difference_ns > 0 ? "more" : "less", largest_remainder(one).cause);
  return cause ? fmt::format("{}; the largest: {}", words, cause_words_of(*cause, one)) : words;
}

// Kind and cause; a narrow terminal keeps the kind, and the cause becomes a note. The last rows are of no
// kind that their names do not say.
answer::Cell change_cell(const DifferenceRow& row) {
  if (row.change >= Change::kRest) return row.cause;
  const std::string kind(change_word(row.change));
  answer::Cell cell(row.cause.empty() ? kind : fmt::format("{}; {}", kind, row.cause));
  cell.brief = row.cause.empty() ? kind : kind + ";";
  return cell;
}

answer::Tone tone_of(const DifferenceRow& row) {
  return row.change >= Change::kRest ? answer::Tone::kFaint : answer::Tone::kPlain;
}

answer::Table table_of(const Explanation& one) {
  answer::Table table{.heads = {"part", "A", "B", "change", "95 % interval", "of the difference", "why"},
                      .numbers_from = 1,
                      .numbers_to = 6,
                      .most = {40},
                      .columns_kept = 4,
                      .last_stays = true};
  for (const auto& row : one.rows)
    table.rows.push_back({.cells = {row.what, duration_or_none(row.from_ns), duration_or_none(row.to_ns),
                                    signed_duration(row.difference_ns), interval_words(row.interval),
                                    row.share ? format_percent(*row.share, 0) : kNone, change_cell(row)},
                          .tone = tone_of(row)});
  table.rows.push_back({.cells = {"the whole " + one.unit_words, duration_or_none(one.from_ns),
                                  duration_or_none(one.to_ns), signed_duration(one.difference_ns),
                                  interval_words(*one.interval), format_percent(1, 0), ""}});
  return table;
}

const char* colour_of(const DifferenceRow& row) {
  if (row.change >= Change::kRest) return "pale";
  return row.difference_ns > 0 ? "c1" : "c0";
}

// Each bar begins where the one before ends, so that the last one ends at the whole difference.
answer::Plot waterfall(const Explanation& one) {
  answer::Plot plot{.description = "the difference, part by part",
                    .x = {.title = fmt::format("ms per {} that B takes more than A; whiskers: 95 % intervals",
                                               one.unit_words)},
                    .legend = {{"slower", "c1"}, {"faster", "c0"}, {"in no single part", "pale"}}};
  answer::Line ends{.points = {}, .stroke = answer::Line::Stroke::kHidden, .mark = answer::Line::Mark::kDot};
  double from = 0, y = 0;
  for (const auto& row : one.rows) {
    const double to = from + row.difference_ns * kNsToMs;
    const auto hint = fmt::format("{}: {} ({})", row.what, signed_duration(row.difference_ns),
                                  interval_words(row.interval));
    plot.y.categories.push_back(row.what);
    plot.rectangles.push_back(
        {std::min(from, to), std::max(from, to), y - 0.36, y + 0.36, colour_of(row), hint});
    ends.points.push_back({.x = to,
                           .y = y,
                           .x_low = from + row.interval.low * kNsToMs,
                           .x_high = from + row.interval.high * kNsToMs,
                           .hint = hint});
    from = to, ++y;
  }
  plot.lines.push_back(std::move(ends));
  return plot;
}

void set_number(nlohmann::json& json, const char* name, const Number& number) {
  json[name] = number.value() ? nlohmann::json(*number) : nlohmann::json();
  if (!number) json[fmt::format("{}_reason", name)] = number.reason();
}

nlohmann::json json_of_row(const DifferenceRow& row) {
  nlohmann::json json{{"what", row.what},
                      {"change", change_word(row.change)},
                      {"difference_ns", row.difference_ns},
                      {"interval_ns", {row.interval.low, row.interval.high}},
                      {"cause", row.cause}};
  set_number(json, "from_ns", row.from_ns);
  set_number(json, "to_ns", row.to_ns);
  set_number(json, "of_difference", row.share);
  return json;
}

}  // namespace

std::string sentence_of(const Explanation& explanation) {
  if (!explanation.no_claim.empty()) return explanation.no_claim;
  const auto* const cause = explanation.first_cause();
  if (cause && explained_share(explanation) >= kMost) return cause_words_of(*cause, explanation);
  return remainder_words(explanation, cause);
}

answer::Sections sections_of(const Explanation& explanation) {
  answer::Section section{.title = "Why"};
  section.paragraphs.push_back(sentence_of(explanation));
  if (explanation.rows.empty()) return {section};
  section.table = table_of(explanation);
  section.chart = {
      .id = "difference-parts",
      .title = "Where the difference comes from",
      .reading =
          "Each bar is a part's difference of means and begins where the one before ends; the last "
          "ends at the whole difference.",
      .metric = {},
      .plots = {waterfall(explanation)}};
  section.notes.push_back(
      fmt::format("Differences are of means, which add up{}; intervals of single parts hold for all parts "
                  "together (Welch, "
                  "Bonferroni).",
                  explanation.beside_medians ? ", while the figures above are medians, which do not" : ""));
  return {section};
}

std::optional<answer::Finding> finding_of(const Explanation& explanation) {
  if (!explanation.no_claim.empty()) return std::nullopt;
  const auto* const cause = explanation.first_cause();
  answer::Finding finding{
      .id = "difference_explained", .severity = "insight", .text = sentence_of(explanation)};
  finding.evidence =
      cause ? fmt::format(
                  "{} of the difference is explained by parts that differ for certain; means of {} to {}",
                  format_percent(explained_share(explanation), 0), format_duration_ns(*explanation.from_ns),
                  format_duration_ns(*explanation.to_ns))
            : fmt::format("{} parts or groups on both sides", explanation.pairs);
  return finding;
}

nlohmann::json json_of(const Explanation& explanation) {
  nlohmann::json json{{"unit", explanation.unit_words},
                      {"no_claim", explanation.no_claim},
                      {"difference_ns", explanation.difference_ns},
                      {"interval_ns", nullptr},
                      {"explained_share", nullptr},
                      {"rows", nlohmann::json::array()}};
  set_number(json, "from_ns", explanation.from_ns);
  set_number(json, "to_ns", explanation.to_ns);
  if (explanation.interval) json["interval_ns"] = {explanation.interval->low, explanation.interval->high};
  if (!explanation.rows.empty()) json["explained_share"] = explained_share(explanation);
  for (const auto& row : explanation.rows) json["rows"].push_back(json_of_row(row));
  return json;
}

}  // namespace paceline::analysis::difference
