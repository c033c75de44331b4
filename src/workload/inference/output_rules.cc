// SPDX-License-Identifier: MIT
#include "workload/inference/output_rules.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "stats/proportion.h"
#include "workload/inference/output_errors.h"
#include "workload/inference/output_kind.h"

namespace paceline::workload {
namespace {

// What a rule looks at, and where it writes what it finds.
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

// With one value per input, the inputs are a sample: beyond the limit only if chance does not explain it.
void by_equal_values(const Judging& j) {
  const double share = 1 - equal_share(j.outputs, j.reference);
  const auto n = static_cast<double>(j.outputs.samples);
  const bool one_value = j.outputs.positions * j.outputs.length == 1;
  judge_share(j, share, one_value ? stats::binomial_lower(share * n, n, kClaimAlpha) : share,
              "values are not equal to the reference's");
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

// Why an error as large as the limit could not be told from a right answer; empty: it could.
std::string blindness(const Yardstick& yard, const pass::Tolerance& tolerance) {
  const double limit = tolerance.ulps * yard.ulp;
  if (tolerance.rounds)
    return yard.depends > limit
               ? ""
               : fmt::format(
                     "the limit for rounding is {:.2g}, but only {:.2g} of the output depends on the input",
                     limit, yard.depends);
  if (yard.layer > limit) return "";
  if (yard.layer == 0)
    return fmt::format("it does not depend on {}, which was rounded to bfloat16", yard.layer_name);
  return fmt::format(
      "rounding {} to bfloat16 changes it by only {:.2g} units in the last place of the {}; the limit is "
      "{:g}, so "
      "the check could miss it",
      yard.layer_name, yard.layer / yard.ulp, yard.moved, tolerance.ulps);
}

// The reference's own sensitivity is the unit: what moving its inputs by one unit in the last place does.
void by_ulps(const Judging& j) {
  const Yardstick& yard = *j.reference.yardstick;
  auto& output = j.judged.output;
  const double found = rms_difference(j.outputs, j.reference) / yard.ulp, limit = j.tolerance.ulps;
  output.ulp_change = yard.ulp;
  output.error_ulps = found;
  output.limit_ulps = limit;
  output.layer_ulps = yard.layer / yard.ulp;
  const double folded = j.tolerance.rounds ? limit : limit * std::max(1.0, yard.weights / yard.ulp);
  note(j, part_of(found, folded),
       found > folded ? fmt::format("its error is {:.3g} times what one unit in the last place of the {} "
                                    "changes, more than {:g} (--accuracy.max_rel_err sets another limit; the "
                                    "largest error is {:.3g})",
                                    found, yard.moved, limit, *output.max_rel_err)
                      : "");
  output.blind = blindness(yard, j.tolerance);
  if (found > limit && found <= folded)
    output.blind = fmt::format(
        "its error is {:.2g} units in the last place of the {}; the limit is {:g}, but rounding the weights "
        "once "
        "more can explain up to {:.2g}",
        found, yard.moved, limit, folded);
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
  if (tolerance.ulps <= 0 || !reference.yardstick || kind == kIntegers) return false;
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
