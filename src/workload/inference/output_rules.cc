// SPDX-License-Identifier: MIT
#include "workload/inference/output_rules.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "stats/proportion.h"
#include "workload/inference/accuracy_gate.h"
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
       accepted ? ""
                : fmt::format("max error {:.3g} exceeds {:.3g} (--accuracy.max_rel_err)", *output.max_rel_err,
                              limit));
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

const Rule& rule_for(const std::string& kind, const pass::Tolerance& tolerance) {
  const bool written = kind == kDense && tolerance.quantile_written;
  const auto* const rule = std::find_if(kRules.begin(), kRules.end(), [&](const Rule& r) {
    return r.kind == kind && (r.in_fp32 || written || !tolerance.max_decides);
  });
  return rule == kRules.end() ? kUsual : *rule;
}

}  // namespace

void judge_output(JudgedOutput& judged, const ComparedRows& outputs, const ComparedRows& reference,
                  const pass::Tolerance& tolerance, double max_changed) {
  const Rule& rule = rule_for(judged.output.kind, tolerance);
  if (judged.output.judged_by.empty()) judged.output.judged_by = rule.name;
  rule.judge({judged, outputs, reference, tolerance, max_changed});
}

}  // namespace paceline::workload
