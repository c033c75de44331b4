// SPDX-License-Identifier: MIT
#include "compare/paired_answers.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/units.h"

namespace paceline::compare {
namespace {

constexpr int kShownDigits = 2;

std::string words_of(const stats::PairedCounts& counts) {
  return fmt::format("of {} labelled inputs {} are right on A only and {} on B only", counts.trials,
                     counts.lost, counts.gained);
}

}  // namespace

std::optional<stats::PairedCounts> paired_answers(const result::Correctness& a,
                                                  const result::Correctness& b) {
  const auto &mine = a.labelled.answers, &theirs = b.labelled.answers;
  if (mine.inputs_sha256.empty() || mine.inputs_sha256 != theirs.inputs_sha256 || a.samples != b.samples)
    return std::nullopt;
  const auto before = result::read_answers(mine, a.samples), after = result::read_answers(theirs, b.samples);
  if (!before || !after) return std::nullopt;
  stats::PairedCounts counts{0, 0, static_cast<double>(a.samples)};
  for (std::size_t i = 0; i < before->size(); ++i) {
    if ((*before)[i] && !(*after)[i]) ++counts.lost;
    if (!(*before)[i] && (*after)[i]) ++counts.gained;
  }
  return counts;
}

void judge_answers(Figure& figure, const stats::PairedCounts& counts) {
  figure.change = (counts.gained - counts.lost) / counts.trials;
  figure.ci = stats::paired_change_interval(counts, figure.confidence);
  figure.p = stats::mcnemar_exact_p(counts);
  const bool differs = *figure.p <= 1 - figure.confidence;
  if (differs)
    figure.verdict = counts.lost > counts.gained ? stats::Verdict::kRegression : stats::Verdict::kImprovement;
  figure.shows = figure.verdict;
  figure.doubt = differs ? std::string()
                         : fmt::format("{}: an exact McNemar test does not tell them apart (p {})",
                                       words_of(counts), format_significant(*figure.p, kShownDigits));
}

}  // namespace paceline::compare
