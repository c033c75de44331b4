// SPDX-License-Identifier: MIT
#include "analysis/difference/part_groups.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "base/units.h"

namespace paceline::analysis::difference {
namespace {

using Parts = std::vector<const TimedPart*>;

// Leaves out parts without enough times.
TimedParts with_times(const TimedParts& side) {
  TimedParts timed{.ordered = side.ordered};
  for (const auto& part : side.parts)
    if (is_timed(part)) timed.parts.push_back(part);
  return timed;
}

Parts timed_parts_in(const TimedParts& side) {
  Parts parts;
  for (const auto& part : side.parts)
    if (is_timed(part)) parts.push_back(&part);
  return parts;
}

bool follows(const std::vector<std::size_t>& before, const std::vector<std::size_t>& after) {
  return !before.empty() && !after.empty() && before.back() + 1 == after.front();
}

// Joins adjacent parts that only one side has: a block that came or went is one change.
std::vector<Aligned> with_blocks(const std::vector<Aligned>& rows) {
  std::vector<Aligned> joined;
  for (const auto& row : rows) {
    auto* const last = joined.empty() ? nullptr : &joined.back();
    const bool only_a = last && last->b.empty() && row.b.empty() && follows(last->a, row.a);
    const bool only_b = last && last->a.empty() && row.a.empty() && follows(last->b, row.b);
    if (!only_a && !only_b) {
      joined.push_back(row);
      continue;
    }
    last->a.insert(last->a.end(), row.a.begin(), row.a.end());
    last->b.insert(last->b.end(), row.b.begin(), row.b.end());
  }
  return joined;
}

bool same_work(const PartKey& a, const PartKey& b) {
  return a.family == b.family && a.shape == b.shape && (a.stem == b.stem || (a.positional && b.positional));
}

bool same_run(const std::vector<PartKey>& keys, std::size_t first, std::size_t other, std::size_t count) {
  for (std::size_t k = 0; k < count; ++k)
    if (!same_work(keys[first + k], keys[other + k])) return false;
  return true;
}

std::string short_name(const TimedPart& part) {
  const auto& is = part.is;
  auto words = is.name.empty() ? is.category : is.name;
  if (!is.model_layer.empty() && is.model_layer != words)
    words = fmt::format("{} ({})", is.model_layer, words);
  if (!is.shape.empty() && words.find(is.shape) == std::string::npos) words += " of " + is.shape;
  return words;
}

std::string list_of(const Parts& parts) {
  if (parts.size() > 3)
    return fmt::format("{} to {} ({} parts)", short_name(*parts.front()), short_name(*parts.back()),
                       parts.size());
  std::vector<std::string> names;
  for (const auto* part : parts) names.push_back(short_name(*part));
  return fmt::format("{}", fmt::join(names, " + "));
}

// Words for the neighbours that parts of one side repeat: a duplicated block.
std::string repeated_by(const std::vector<std::size_t>& at, const std::vector<PartKey>& keys,
                        const Parts& parts) {
  const auto first = at.front(), count = at.size();
  const auto words = [&](std::size_t other) {
    return list_of(Parts(parts.begin() + static_cast<std::ptrdiff_t>(other),
                         parts.begin() + static_cast<std::ptrdiff_t>(other + count)));
  };
  if (first >= count && same_run(keys, first, first - count, count)) return words(first - count);
  if (first + 2 * count <= keys.size() && same_run(keys, first, first + count, count))
    return words(first + count);
  return {};
}

double calls_of(const Parts& parts) {
  double calls = 0;
  for (const auto* part : parts) calls += part->calls;
  return calls;
}

// The first text of a side's parts, where all of them have it in common.
std::string common(const Parts& parts, std::string PartSignature::*field) {
  std::string text;
  for (const auto* part : parts) {
    if (!text.empty() && part->is.*field != text) return {};
    text = part->is.*field;
  }
  return text;
}

std::string note_of(const Parts& parts) {
  for (const auto* part : parts)
    if (!part->note.empty()) return part->note;
  return {};
}

bool other_precision(const PartGroup& group) {
  const auto a = common(group.a, &PartSignature::precision), b = common(group.b, &PartSignature::precision);
  return !a.empty() && !b.empty() && a != b;
}

bool one_for_several(const PartGroup& group) {
  return group.is_pair() && group.a.size() != group.b.size();
}

bool other_calls(const PartGroup& group) {
  return group.is_pair() && !one_for_several(group) &&
         std::abs(calls_of(group.a) - calls_of(group.b)) > 0.5e-2;
}

std::string precision_words(const PartGroup& group) {
  return other_precision(group)
             ? fmt::format("it ran in {} instead of {}", common(group.b, &PartSignature::precision),
                           common(group.a, &PartSignature::precision))
             : std::string();
}

std::string calls_words(const PartGroup& group) {
  if (!other_calls(group)) return {};
  return fmt::format("{} calls instead of {}", format_count(calls_of(group.b)),
                     format_count(calls_of(group.a)));
}

std::string fused_words(const PartGroup& group) {
  if (!one_for_several(group)) return {};
  const bool fused = group.b.size() < group.a.size();
  return fmt::format("{} runs as {}: {}", list_of(fused ? group.a : group.b),
                     fused ? "one fused part" : "one part before", list_of(fused ? group.b : group.a));
}

// A note of the slower side explains; one of the faster side says what went.
std::string note_words(const PartGroup& group) {
  const bool more = group.difference.value > 0;
  const auto note = note_of(more ? group.b : group.a);
  if (note.empty() || more) return note;
  return "before: " + note;
}

std::string repeat_words(const PartGroup& group) {
  return group.repeats.empty() ? std::string() : "repeats " + group.repeats;
}

std::string type_words(const PartGroup& group) {
  const auto a = common(group.a, &PartSignature::category), b = common(group.b, &PartSignature::category);
  return group.is_pair() && !one_for_several(group) && a != b ? fmt::format("{} instead of {}", b, a)
                                                              : std::string();
}

std::string renamed_words(const PartGroup& group) {
  if (!group.is_pair() || one_for_several(group)) return {};
  const auto a = short_name(*group.a.front()), b = short_name(*group.b.front());
  const bool layer = !group.a.front()->is.model_layer.empty() &&
                     group.a.front()->is.model_layer == group.b.front()->is.model_layer;
  if (a == b) return {};
  if (group.b.front()->is.category.starts_with("kernel")) return "another kernel";
  return layer ? std::string() : "it has another name";
}

PartGroup group_of(const Aligned& row, const Parts& a, const Parts& b) {
  PartGroup group;
  for (const auto i : row.a) group.a.push_back(a[i]);
  for (const auto j : row.b) group.b.push_back(b[j]);
  group.from = mean_of_sum(times_of(group.a));
  group.to = mean_of_sum(times_of(group.b));
  group.difference = difference_of(group.from, group.to);
  return group;
}

}  // namespace

std::vector<std::span<const double>> times_of(const std::vector<const TimedPart*>& parts) {
  std::vector<std::span<const double>> times;
  for (const auto* part : parts) times.emplace_back(part->times_ns);
  return times;
}

std::vector<PartGroup> groups_of(const TimedParts& a, const TimedParts& b) {
  const auto keys = keys_of(with_times(a), with_times(b));
  const auto in_a = timed_parts_in(a), in_b = timed_parts_in(b);
  const bool ordered = a.ordered && b.ordered;
  std::vector<PartGroup> groups;
  for (const auto& row : ordered ? with_blocks(align_ordered(keys)) : align_by_name(keys)) {
    auto& group = groups.emplace_back(group_of(row, in_a, in_b));
    if (ordered && row.a.empty()) group.repeats = repeated_by(row.b, keys.b, in_b);
    if (ordered && row.b.empty()) group.repeats = repeated_by(row.a, keys.a, in_a);
  }
  return groups;
}

std::string name_of(const PartGroup& group) {
  if (!group.is_pair()) return list_of(group.a.empty() ? group.b : group.a);
  const auto a = list_of(group.a), b = list_of(group.b);
  return a == b ? a : fmt::format("{} → {}", a, b);
}

Change change_of(const PartGroup& group) {
  if (group.a.empty()) return Change::kNew;
  if (group.b.empty()) return Change::kVanished;
  if (other_precision(group)) return Change::kPrecision;
  if (one_for_several(group)) return Change::kFused;
  if (other_calls(group)) return Change::kCalls;
  return group.difference.value > 0 ? Change::kSlower : Change::kFaster;
}

std::string cause_of(const PartGroup& group) {
  static constexpr std::array kCauses{note_words,   precision_words, calls_words,  fused_words,
                                      repeat_words, type_words,      renamed_words};
  std::vector<std::string> causes;
  for (const auto words : kCauses)
    if (auto cause = words(group); !cause.empty()) causes.push_back(std::move(cause));
  return fmt::format("{}", fmt::join(causes, "; "));
}

}  // namespace paceline::analysis::difference
