// SPDX-License-Identifier: MIT
#include "analysis/difference/explanation.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <span>
#include <utility>

#include "analysis/difference/part_groups.h"
#include "base/units.h"
#include "stats/quantile.h"
#include "stats/spread.h"

namespace paceline::analysis::difference {
namespace {

constexpr double kConfidence = 0.95;
constexpr double kExplained = 0.9;  // of the difference: smaller parts go to the rest
constexpr double kSmallest = 0.01;  // of the difference: no part below is a row
constexpr double kUntimed = 0.1;    // of a side: more time in parts without a spread supports no claim
constexpr double kOneWay = 0.75;    // of the pairs, from which all seem slower for one reason

Number share_of(double part, double whole) {
  return whole != 0 ? Number(part / whole) : Number::missing("there is no difference");
}

bool excludes_zero(const stats::Interval& one) {
  return one.low > 0 || one.high < 0;
}

// Times of the whole, or of the part that has most if those are fewer.
std::size_t usable_times(const TimedParts& side) {
  std::size_t most = 0;
  for (const auto& part : side.parts) most = std::max(most, part.times_ns.size());
  return std::min(most, side.total_ns.size());
}

double mean_time(const TimedPart& part) {
  return part.times_ns.empty() ? 0 : stats::mean(part.times_ns);
}

// Time of all parts of a side, and of those with too few calls for a spread.
struct SummedTimes {
  double all = 0, untimed = 0;
};

SummedTimes summed(const TimedParts& side) {
  SummedTimes times;
  for (const auto& part : side.parts) {
    times.all += mean_time(part);
    if (!is_timed(part)) times.untimed += mean_time(part);
  }
  return times;
}

// Why parts that were not measured together support no claim; empty: they do.
std::string too_few_calls(const TimedParts& side, std::string_view letter) {
  const auto times = summed(side);
  if (times.all <= 0) return fmt::format("{} has no parts with times", letter);
  if (times.untimed <= kUntimed * times.all) return {};
  return fmt::format("{}: {} of its time is in parts with fewer than {} calls, whose spread is not known",
                     letter, format_percent(times.untimed / times.all, 0), kFewestTimes);
}

// Why such parts cannot explain what the sides differ by: most of it may be in those with few calls.
std::string too_much_untimed(const TimedParts& a, const TimedParts& b) {
  if (!a.whole_is_sum || !b.whole_is_sum) return {};
  const auto from = summed(a), to = summed(b);
  const double whole = std::abs(to.all - from.all), untimed = std::abs(to.untimed - from.untimed);
  if (untimed <= kUntimed * whole) return {};
  return fmt::format(
      "{} of the difference of {} are in parts with fewer than {} calls, whose spread is not known",
      format_duration_ns(untimed), format_duration_ns(whole), kFewestTimes);
}

// Why a side supports no claim; empty: it does.
std::string why_no_claim(const TimedParts& side, std::string_view letter) {
  if (!side.missing.empty()) return fmt::format("{}: {}", letter, side.missing);
  if (side.whole_is_sum) return too_few_calls(side, letter);
  const auto count = usable_times(side);
  if (count == 0) return fmt::format("{} has no parts with times", letter);
  if (count >= kFewestTimes) return {};
  return fmt::format("{} has {}: at least {} are needed", letter,
                     plural(static_cast<std::int64_t>(count), side.unit_words), kFewestTimes);
}

DifferenceRow row_of(const PartGroup& group, double whole, double confidence) {
  const auto side = [](const std::vector<const TimedPart*>& parts, const Mean& mean) {
    return parts.empty() ? Number::missing("this side does not have it") : Number(mean.value);
  };
  return {.what = name_of(group),
          .from_ns = side(group.a, group.from),
          .to_ns = side(group.b, group.to),
          .difference_ns = group.difference.value,
          .interval = group.difference.interval(confidence),
          .share = share_of(group.difference.value, whole),
          .change = change_of(group),
          .cause = cause_of(group)};
}

Mean mean_of_groups(std::span<const PartGroup> groups, std::vector<const TimedPart*> PartGroup::*side) {
  std::vector<const TimedPart*> parts;
  for (const auto& group : groups) parts.insert(parts.end(), (group.*side).begin(), (group.*side).end());
  return mean_of_sum(times_of(parts));
}

// Says where pairs differ one way together, as after a change of clocks; else their number.
std::string words_of_rest(std::span<const PartGroup> groups) {
  std::vector<double> ratios;
  for (const auto& group : groups)
    if (group.is_pair() && group.from.value > 0) ratios.push_back(group.to.value / group.from.value);
  auto words = fmt::format("{}, each by itself within its spread or small",
                           plural(static_cast<std::int64_t>(groups.size()), "part"));
  if (ratios.empty()) return words;
  const auto slower =
      static_cast<double>(std::ranges::count_if(ratios, [](double ratio) { return ratio > 1; }));
  const double middle = stats::median(ratios), all = static_cast<double>(ratios.size());
  const double one_way = std::max(slower, all - slower);
  if (ratios.size() < kFewestTimes || one_way < kOneWay * all) return words;
  return fmt::format("{}; {:.0f} of {} pairs are {}, in the middle by {}", words, one_way, ratios.size(),
                     slower > all - slower ? "slower" : "faster", format_percent(std::abs(middle - 1)));
}

DifferenceRow rest_of(std::span<const PartGroup> groups, double whole) {
  const Mean from = mean_of_groups(groups, &PartGroup::a), to = mean_of_groups(groups, &PartGroup::b);
  const auto difference = difference_of(from, to);
  return {.what = "all other parts",
          .from_ns = from.value,
          .to_ns = to.value,
          .difference_ns = difference.value,
          .interval = difference.interval(kConfidence),
          .share = share_of(difference.value, whole),
          .change = Change::kRest,
          .cause = words_of_rest(groups)};
}

// Time of the whole.
Mean whole_of(const TimedParts& side) {
  if (!side.whole_is_sum) return mean_of(side.total_ns);
  Mean whole;
  for (const auto& part : side.parts)
    if (is_timed(part)) whole = sum_of(whole, mean_of(part.times_ns));
  return whole;
}

// The whole without its parts, iteration by iteration where both have the same number.
Mean outside_of(const TimedParts& side) {
  if (side.whole_is_sum) return {};
  std::vector<std::vector<double>> negative{side.total_ns};
  for (const auto& part : side.parts) {
    if (!is_timed(part)) continue;
    auto& times = negative.emplace_back(part.times_ns);
    for (double& time : times) time = -time;
  }
  return mean_of_sum({negative.begin(), negative.end()});
}

DifferenceRow unexplained_of(const TimedParts& a, const TimedParts& b, double whole) {
  const Mean from = outside_of(a), to = outside_of(b);
  const auto difference = difference_of(from, to);
  return {.what = "in no part",
          .from_ns = from.value,
          .to_ns = to.value,
          .difference_ns = difference.value,
          .interval = difference.interval(kConfidence),
          .share = share_of(difference.value, whole),
          .change = Change::kUnexplained,
          .cause = "time between parts, and what profilers add to one side more than to the other"};
}

bool has_whole(const TimedParts& side) {
  return side.total_ns.size() >= 2 || (side.whole_is_sum && std::ranges::any_of(side.parts, is_timed));
}

// Moves parts whose difference is certain to the front, the largest first; returns how many of them are rows.
std::size_t choose_rows(std::vector<PartGroup>& groups, double whole, double confidence) {
  const auto end = std::stable_partition(groups.begin(), groups.end(), [&](const PartGroup& group) {
    return excludes_zero(group.difference.interval(confidence)) &&
           std::abs(group.difference.value) >= kSmallest * std::abs(whole);
  });
  const auto size = [](const PartGroup& group) { return std::abs(group.difference.value); };
  std::ranges::stable_sort(groups.begin(), end, std::greater{}, size);
  double left = whole;
  std::size_t rows = 0;
  for (auto at = groups.begin(); at != end && std::abs(left) > (1 - kExplained) * std::abs(whole);
       ++at, ++rows)
    left -= at->difference.value;
  return rows;
}

}  // namespace

const DifferenceRow* Explanation::first_cause() const {
  const auto at = std::ranges::find_if(rows, [&](const DifferenceRow& row) {
    return row.change < Change::kRest && (row.difference_ns > 0) == (difference_ns > 0);
  });
  return at == rows.end() ? nullptr : &*at;
}

Explanation explain(const TimedParts& a, const TimedParts& b) {
  Explanation result;
  result.unit_words = b.unit_words.empty() ? a.unit_words : b.unit_words;
  for (auto [side, letter] : {std::pair(&a, "A"), std::pair(&b, "B")})
    if (result.no_claim.empty()) result.no_claim = why_no_claim(*side, letter);
  if (result.no_claim.empty()) result.no_claim = too_much_untimed(a, b);
  if (!has_whole(a) || !has_whole(b)) return result;
  const Mean from = whole_of(a), to = whole_of(b);
  const auto whole = difference_of(from, to);
  result.from_ns = from.value, result.to_ns = to.value, result.difference_ns = whole.value;
  if (!result.no_claim.empty()) return result;
  result.interval = whole.interval(kConfidence);
  if (!excludes_zero(*result.interval)) {
    result.no_claim =
        "there is nothing to explain: the means differ less than they vary (their difference may be 0)";
    return result;
  }
  auto groups = groups_of(a, b);
  result.pairs = static_cast<std::size_t>(std::ranges::count_if(groups, &PartGroup::is_pair));
  const double each = 1 - (1 - kConfidence) / static_cast<double>(groups.size());
  const auto rows = choose_rows(groups, whole.value, each);
  for (std::size_t i = 0; i < rows; ++i) result.rows.push_back(row_of(groups[i], whole.value, each));
  if (rows < groups.size()) result.rows.push_back(rest_of(std::span(groups).subspan(rows), whole.value));
  if (!a.whole_is_sum || !b.whole_is_sum) result.rows.push_back(unexplained_of(a, b, whole.value));
  return result;
}

}  // namespace paceline::analysis::difference
