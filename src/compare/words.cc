// SPDX-License-Identifier: MIT
#include "compare/words.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include "answer/section.h"
#include "base/text.h"
#include "base/units.h"

namespace paceline::compare {
namespace {

using stats::Verdict;

// How values of a unit look, and what more and less of them is called.
struct UnitRow {
  std::string_view unit;
  std::string (*shown)(double);
  std::string_view more, less, times;
};
constexpr std::array kUnits{
    UnitRow{"ms", [](double v) { return format_duration_ns(v * 1e6); }, "slower", "faster", "times as long"},
    UnitRow{"s", [](double v) { return format_duration_ns(v * 1e9); }, "slower", "faster", "times as long"},
    UnitRow{"MB", [](double v) { return format_bytes(v * 1e6); }, "more", "less", "times as much"},
    UnitRow{"J/item", [](double v) { return format_significant(v) + " J"; }, "more", "less", "times as much"},
    UnitRow{"items/s", [](double v) { return format_rate(v) + "/s"; }, "higher", "lower", "times as high"},
    UnitRow{"GB/s", [](double v) { return format_significant(v) + " GB/s"; }, "higher", "lower",
            "times as high"},
    UnitRow{"", [](double v) { return format_significant(v); }, "higher", "lower", "times as high"}};

const UnitRow& unit_of(const Figure& figure) {
  const auto* found = std::ranges::find(kUnits, figure.unit, &UnitRow::unit);
  return found == kUnits.end() ? kUnits.back() : *found;
}

constexpr double kTwofold = 2;

// The change as a share: of the first side, positive in the direction of the estimate.
struct Shares {
  double estimate = 0, low = 0, high = 0;
};
Shares shares_of(const Figure& figure) {
  const double base = figure.scale == Scale::kRatio ? 1 : 0;
  Shares shares{*figure.change - base, 0, 0};
  if (figure.ci) shares.low = figure.ci->low - base, shares.high = figure.ci->high - base;
  if (shares.estimate < 0) shares = {-shares.estimate, -shares.high, -shares.low};
  return shares;
}

bool is_multiple(const Figure& figure) {
  return figure.scale == Scale::kRatio && *figure.change >= kTwofold;
}

std::string percent_number(double share) {
  return format_fixed(100 * share, 1);
}

std::string pairs_words(const Figure& figure, Pairing pairing) {
  return pairing == Pairing::kApart ? plural(figure.pairs, figure.counted) + " per side"
                                    : plural(figure.pairs, "pair");
}

std::string verdict_sentence(const Comparison& comparison, const ComparedCase& one, const Figure& figure) {
  return fmt::format("{}: {}: {}", subject_words(comparison, one, figure),
                     change_with_range(figure, one.pairing), stats::verdict_name(figure.verdict));
}

struct Counts {
  std::array<std::int64_t, 4> of{};  // as stats::Verdict
  std::int64_t all = 0, suspected = 0, failed = 0;
  std::vector<std::string> claims{};
  [[nodiscard]] std::int64_t operator[](Verdict verdict) const {
    return of.at(static_cast<std::size_t>(verdict));
  }
};

Counts counts_of(const Comparison& comparison) {
  Counts counts;
  for (const auto wanted :
       {Verdict::kRegression, Verdict::kImprovement, Verdict::kEquivalent, Verdict::kInconclusive})
    for (const auto& one : comparison.cases)
      for (const auto* figure : deciding(one)) {
        if (figure->verdict != wanted) continue;
        ++counts.all, ++counts.of.at(static_cast<std::size_t>(wanted));
        if (wanted == Verdict::kRegression || wanted == Verdict::kImprovement)
          counts.claims.push_back(verdict_sentence(comparison, one, *figure));
        else if (figure->shows == Verdict::kRegression || figure->shows == Verdict::kImprovement)
          ++counts.suspected;
      }
  for (const auto& one : comparison.cases)
    if (!one.failed_b.empty() && !one.skipped_b) ++counts.failed;
  return counts;
}

// The first suspicion, or the first reason why nothing can be said.
std::string open_sentence(const Comparison& comparison, const Counts& counts) {
  for (const bool suspected : {true, false})
    for (const auto& one : comparison.cases)
      for (const auto* figure : deciding(one)) {
        if (suspected != (figure->shows == Verdict::kRegression || figure->shows == Verdict::kImprovement) ||
            figure->verdict != Verdict::kInconclusive)
          continue;
        const auto more = counts.of.back() > 1
                              ? fmt::format(" ({} of {} cannot be decided)", counts.of.back(), counts.all)
                              : "";
        return fmt::format("{}: {}; {}{}.", subject_words(comparison, one, *figure),
                           change_with_range(*figure, one.pairing), figure->doubt, more);
      }
  return {};
}

}  // namespace

std::string value_words(const Figure& figure, const Number& value) {
  return value ? unit_of(figure).shown(*value) : answer::kNone;
}

std::string change_words(const Figure& figure) {
  if (!figure.change) return answer::kNone;
  const auto& unit = unit_of(figure);
  if (is_multiple(figure)) return fmt::format("{} {}", format_significant(*figure.change), unit.times);
  const auto shares = shares_of(figure);
  const auto number = percent_number(shares.estimate);
  if (number == "0.0") return "no difference";
  const bool more = *figure.change > (figure.scale == Scale::kRatio ? 1 : 0);
  return fmt::format("{} {} {}", number, figure.scale == Scale::kRatio ? "%" : "points",
                     more ? unit.more : unit.less);
}

std::string range_words(const Figure& figure) {
  if (!figure.ci || !figure.change) return {};
  if (is_multiple(figure))
    return fmt::format("{}–{}", format_significant(figure.ci->low), format_significant(figure.ci->high));
  if (figure.scale == Scale::kRatio && figure.ci->high >= kTwofold)
    return fmt::format("{} to {} times", format_significant(figure.ci->low),
                       format_significant(figure.ci->high));
  const auto shares = shares_of(figure);
  const auto *unit = figure.scale == Scale::kRatio ? "%" : "points", *to = shares.low < 0 ? " to " : "–";
  return fmt::format("{}{}{} {}", percent_number(shares.low), to, percent_number(shares.high), unit);
}

std::string change_with_range(const Figure& figure, Pairing pairing) {
  if (!figure.change && figure.verdict == Verdict::kInconclusive)
    return figure.pairs > 0 ? "no answer from " + pairs_words(figure, pairing) : "no answer";
  if (!figure.change && figure.verdict != Verdict::kInconclusive)
    return fmt::format("{}, by how much cannot be said",
                       (figure.verdict == Verdict::kRegression) == (figure.better == stats::Better::kLower)
                           ? unit_of(figure).more
                           : unit_of(figure).less);
  std::vector<std::string> inside;
  if (const auto range = range_words(figure); !range.empty()) inside.push_back(range);
  if (figure.pairs > 0) inside.push_back(pairs_words(figure, pairing));
  return change_words(figure) + (inside.empty() ? "" : " (" + join(inside, ", ") + ")");
}

std::string control_words(const Comparison& comparison) {
  const auto& [figure, moved] = *comparison.control;
  if (!figure.change) return "it cannot say whether the machine drifted: " + figure.doubt;
  return change_with_range(figure, comparison.pairing) + (moved ? "; it moved, so there is no verdict" : "");
}

namespace {

// "resnet50 onnxruntime → openvino b8"; the words that differ follow the label where they are not in it.
std::string with_difference(const ComparedCase& one) {
  auto words = one.label;
  if (one.differs.empty()) return words;
  const auto from = one.differs.substr(0, one.differs.find(" → "));
  const auto place = (" " + words + " ").find(" " + from + " ");
  if (place == std::string::npos) return words + fmt::format(" ({})", one.differs);
  return words.replace(place, from.size(), one.differs);
}

}  // namespace

std::string case_words(const Comparison& comparison, const ComparedCase& one) {
  auto words = with_difference(one);
  if (comparison.sides.size() > 2) words += fmt::format(" in {}", comparison.sides[one.side].name);
  return words;
}

std::string subject_words(const Comparison& comparison, const ComparedCase& one, const Figure& figure) {
  const auto decide = deciding(one);
  const bool headline = decide.size() == 1 && decide.front() == &figure;
  return case_words(comparison, one) + (headline ? "" : ", " + figure.title);
}

std::string sentence_of(const Comparison& comparison) {
  const auto counts = counts_of(comparison);
  if (const auto why = blocked_by(comparison); !why.empty())
    return fmt::format("No verdict about the code: {}.", why);
  constexpr std::size_t kShown = 3;
  std::vector<std::string> parts(counts.claims.begin(),
                                 counts.claims.begin() + std::min(kShown, counts.claims.size()));
  if (counts.claims.size() > kShown)
    parts.push_back(fmt::format("and {} more changes", counts.claims.size() - kShown));
  if (counts.failed > 0) parts.push_back(plural(counts.failed, "case") + " failed on the second side");
  if (!parts.empty()) {
    if (counts.of.back() > 0)
      parts.push_back(fmt::format("{} of {} cannot be decided", counts.of.back(), counts.all));
    return join(parts, "; ") + ".";
  }
  if (counts.of.back() > 0) return open_sentence(comparison, counts);
  if (counts.all == 0) return "No figure of the sides can be compared.";
  double widest = 0;
  for (const auto& one : comparison.cases)
    for (const auto* figure : deciding(one)) widest = std::max(widest, figure->delta);
  return fmt::format("No regression: {} of {} within {}.", counts[Verdict::kEquivalent], counts.all,
                     format_percent(widest, 0));
}

}  // namespace paceline::compare
