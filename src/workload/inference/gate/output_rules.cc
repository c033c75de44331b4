// SPDX-License-Identifier: MIT
#include "workload/inference/gate/output_rules.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>
#include <utility>
#include <vector>

#include "stats/proportion.h"
#include "workload/inference/gate/output_errors.h"
#include "workload/inference/gate/output_kind.h"
#include "workload/inference/gate/output_units.h"

namespace paceline::workload {
namespace {

// Input and result of a rule.
struct Judging {
  JudgedOutput& judged;
  const ComparedRows& outputs;
  const ComparedRows& reference;
  const pass::Tolerance& tolerance;
  double max_changed;
};

double part_of(double value, double limit) {
  return limit > 0 ? value / limit : value;
}

void note(const Judging& j, double part, const std::string& complaint) {
  j.judged.part_of_limit = std::max(j.judged.part_of_limit, part);
  if (complaint.empty()) return;
  std::string& detail = j.judged.output.detail;
  detail += (detail.empty() ? "" : "; ") + complaint;
}

void judge_centred_cosine(const Judging& j) {
  const auto& cosine = j.judged.output.centred_cosine;
  const double limit = j.tolerance.centred_cosine;
  j.judged.limits.centred_cosine = limit;
  if (!cosine) return;
  note(j, part_of(1 - *cosine, 1 - limit),
       *cosine < limit
           ? fmt::format("centred cosine {:.6f} is below {:.6f} (--accuracy.centred_cosine)", *cosine, limit)
           : "");
}

void by_max_error(const Judging& j) {
  const auto& output = j.judged.output;
  const double limit = j.tolerance.max_rel_err;
  j.judged.limits.max_rel_err = limit;
  const bool accepted = *output.max_rel_err <= limit || *output.max_abs_err <= j.tolerance.max_abs_err;
  note(j, accepted ? std::min(1.0, part_of(*output.max_rel_err, limit)) : part_of(*output.max_rel_err, limit),
       accepted    ? ""
       : limit > 0 ? fmt::format("max error {:.3g} exceeds {:.3g} (--accuracy.max_rel_err)",
                                 *output.max_rel_err, limit)
                   : fmt::format("an element differs by {:.3g}; the limit from the check is {:.3g}",
                                 *output.max_abs_err, j.tolerance.max_abs_err));
  judge_centred_cosine(j);
}

void by_quantile_error(const Judging& j) {
  measure_quantile_error(j.judged.output, j.outputs, j.reference, j.tolerance.scale);
  const double found = *j.judged.output.quantile_err, limit = j.tolerance.quantile_err;
  j.judged.limits.quantile_err = limit;
  note(j, part_of(found, limit),
       found > limit ? fmt::format("the {:g} quantile of its errors is {:.3g} standard deviations of the "
                                   "reference, more than {:.3g} (--accuracy.quantile_err)",
                                   kErrorQuantile, found, limit)
                     : "");
  judge_centred_cosine(j);
}

// The plain cosine, where a single sample leaves nothing to centre on.
void by_cosine(const Judging& j) {
  judge_centred_cosine(j);
  if (j.judged.output.centred_cosine) return;
  const double cosine = *j.judged.output.cosine, limit = j.tolerance.centred_cosine;
  note(j, part_of(1 - cosine, 1 - limit),
       cosine < limit
           ? fmt::format("cosine {:.6f} is below {:.6f} (--accuracy.centred_cosine)", cosine, limit)
           : "");
}

void judge_share(const Judging& j, double share, double at_least, const std::string& what) {
  j.judged.limits.max_changed = j.max_changed;
  j.judged.output.equal_share = 1 - share;
  note(j, part_of(share, j.max_changed),
       at_least > j.max_changed
           ? fmt::format("{:.3g} % of its {}, more than the {:.3g} % accepted (--accuracy.max_changed)",
                         share * 100, what, j.max_changed * 100)
           : "");
}

constexpr std::int64_t kFewValues = 64;  // per input: labels, and the indices of a few best ones

// Inputs that differ in a value although rounding makes no difference to any of theirs; none where that was
// not tried, or each input has many values.
std::int64_t beyond_rounding(const Judging& j) {
  const auto& yard = j.reference.yardstick;
  const auto width = static_cast<std::size_t>(j.reference.positions * j.reference.length);
  if (j.tolerance.rounds || j.tolerance.ulps <= 0 || !yard || yard->flips.empty() ||
      std::cmp_greater(width, kFewValues))
    return 0;
  std::int64_t wrong = 0;
  for (std::size_t i = 0; i + width <= yard->flips.size(); i += width) {
    bool differs = false, flips = false;
    for (std::size_t k = i; k < i + width; ++k)
      differs = differs || j.outputs.values[k] != j.reference.values[k], flips = flips || yard->flips[k];
    wrong += differs && !flips ? 1 : 0;
  }
  return wrong;
}

// With one value per input, the inputs are a sample: beyond the limit only if chance does not explain it.
void by_equal_values(const Judging& j) {
  const double share = 1 - equal_share(j.outputs, j.reference);
  const auto n = static_cast<double>(j.outputs.samples);
  const bool one_value = j.outputs.positions * j.outputs.length == 1;
  judge_share(j, share, one_value ? stats::binomial_lower(share * n, n, kClaimAlpha) : share,
              "values are not equal to the reference's");
  if (const auto wrong = beyond_rounding(j); wrong > 0)
    note(j, std::numeric_limits<double>::infinity(),
         fmt::format("its values differ for {} of {} inputs although rounding changes none of theirs", wrong,
                     j.outputs.samples));
}

void by_boxes(const Judging& j) {
  const double limit = j.tolerance.max_rel_err;
  const double share = 1 - found_boxes(j.outputs, j.reference, limit);
  const std::string further =
      j.reference.length > kCoordinates
          ? fmt::format(
                ", with equal whole numbers behind the coordinates and others within {:g} % of the largest",
                limit * 100)
          : "";
  judge_share(j, share, share,
              fmt::format("boxes have no counterpart within {:g} % of the largest coordinate{}",
                          kBoxDistance * 100, further));
}

constexpr double kMostBlind = 0.05;  // of the columns that depend on a layer

// Why an error as large as the limit could not be told from a right answer in such columns; empty: it could.
std::string blindness(const GroupUnits& group, const Yardstick& yard, const pass::Tolerance& tolerance) {
  const double limit = tolerance.ulps * group.unit;
  if (tolerance.rounds)
    return group.depends > limit
               ? ""
               : fmt::format(
                     "the limit for rounding is {:.2g}, but only {:.2g} of the output depends on the input",
                     limit, group.depends);
  if (group.layer > limit) return "";
  return fmt::format(
      "rounding {} to bfloat16 changes it by only {:.2g} times what {} changes; the limit is "
      "{:g}, so the check could miss it",
      yard.layer_name, group.layer / group.unit, group.change, tolerance.ulps);
}

// The reason for a whole output. Columns that the rounded layer does not reach count only if it reaches none,
// and so do probabilities that it changes by less than their function rounds away.
std::string blindness(const std::vector<GroupUnits>& groups, const Yardstick& yard,
                      const pass::Tolerance& tolerance) {
  double reached = 0, blind = 0, most = 0;
  bool any_hidden = false;
  std::string why;
  for (const auto& group : groups) {
    const auto columns = static_cast<double>(group.group.columns.size());
    const bool hidden = group.of_probabilities && group.layer <= tolerance.ulps * group.unit;
    any_hidden = any_hidden || (hidden && group.layer > 0);
    if (group.layer == 0 || (hidden && !tolerance.rounds)) continue;
    reached += columns;
    auto reason = blindness(group, yard, tolerance);
    if (reason.empty()) continue;
    blind += columns;
    if (columns > most) most = columns, why = std::move(reason);
  }
  if (reached == 0 && any_hidden)
    return fmt::format("rounding {} to bfloat16 changes it by less than its probabilities are rounded",
                       yard.layer_name);
  if (reached == 0)
    return fmt::format("it does not depend on {}, which was rounded to bfloat16", yard.layer_name);
  return blind > kMostBlind * reached ? why : "";
}

// In a lower precision columns are far enough from their limits for each to be judged by itself.
double in_units(const GroupUnits& group, const pass::Tolerance& tolerance) {
  return tolerance.rounds ? std::max(group.in_units(), group.worst_column) : group.in_units();
}

std::string columns_in_words(const GroupUnits& group, const std::vector<GroupUnits>& all) {
  if (all.size() == 1) return "its error";
  return fmt::format("the error of its values of about {:.2g}", group.group.size);
}

// An output in units of what rounding does to its columns of like size.
struct InUnits {
  std::vector<GroupUnits> groups;
  GroupUnits worst, overall;
  double error = 0;
};

InUnits in_units_of(const Judging& j, const Yardstick& yard) {
  const auto changes = j.tolerance.rounds ? Changes::kTogether : Changes::kLargest;
  InUnits found{units_of(j.outputs, j.reference, yard, changes),
                {},
                overall_units(j.outputs, j.reference, yard, changes)};
  found.worst = *std::ranges::max_element(found.groups, {},
                                          [&](const auto& group) { return in_units(group, j.tolerance); });
  found.error = in_units(found.worst, j.tolerance);
  return found;
}

// The reference's own sensitivity is the unit.
void by_ulps(const Judging& j) {
  Yardstick yard = *j.reference.yardstick;
  const double limit = j.tolerance.ulps;
  auto found = in_units_of(j, yard);
  if (found.error > limit && !yard.at_once.empty()) {
    yard = with_sums_at_once(std::move(yard));
    found = in_units_of(j, yard);
  }
  auto& output = j.judged.output;
  output.ulp_change = found.overall.unit;
  output.error_ulps = found.error;
  output.limit_ulps = limit;
  output.layer_ulps = found.overall.layer / found.overall.unit;
  note(j, part_of(found.error, limit),
       found.error > limit
           ? fmt::format("{} is {:.3g} times what {} changes, more than {:g} "
                         "(--accuracy.max_rel_err sets another limit; the largest error is {:.3g})",
                         columns_in_words(found.worst, found.groups), found.error, found.worst.change, limit,
                         *output.max_rel_err)
           : "");
  output.blind = blindness(found.groups, yard, j.tolerance);
}

struct Rule {
  const char* kind;
  bool in_fp32;  // holds where the maximum decides, too
  const char* name;
  void (*judge)(const Judging&);
};

constexpr std::array kRules{
    Rule{kIntegers, true, "equal_values", by_equal_values},
    Rule{kDense, false, "quantile_error", by_quantile_error},
    Rule{kEmbedding, false, "cosine", by_cosine},
    Rule{kBoxes, false, "boxes", by_boxes},
};
constexpr Rule kUsual{kNoKind, true, "max_error", by_max_error};
constexpr Rule kInUlps{kNoKind, true, "ulps", by_ulps};

// Numbers that have an order and a size; boxes may come in another order where rounding decides it.
bool measured_in_ulps(const std::string& kind, const ComparedRows& reference,
                      const pass::Tolerance& tolerance) {
  if (tolerance.ulps <= 0 || !has_unit(reference) || kind == kIntegers) return false;
  if (reference.yardstick->layer_name.empty()) return false;
  return kind != kBoxes || !tolerance.rounds;
}

const Rule& rule_for(const std::string& kind, const ComparedRows& reference,
                     const pass::Tolerance& tolerance) {
  if (measured_in_ulps(kind, reference, tolerance)) return kInUlps;
  const bool written = kind == kDense && tolerance.quantile_written;
  const auto* const rule = std::find_if(kRules.begin(), kRules.end(), [&](const Rule& r) {
    return r.kind == kind && (r.in_fp32 || written || !tolerance.max_decides);
  });
  return rule == kRules.end() ? kUsual : *rule;
}

}  // namespace

void judge_output(JudgedOutput& judged, const ComparedRows& outputs, const ComparedRows& reference,
                  const pass::Tolerance& tolerance, double max_changed) {
  const Rule& rule = rule_for(judged.output.kind, reference, tolerance);
  if (judged.output.judged_by.empty()) judged.output.judged_by = rule.name;
  rule.judge({judged, outputs, reference, tolerance, max_changed});
}

}  // namespace paceline::workload
