// SPDX-License-Identifier: MIT
#include "compare/profiles.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "analysis/difference/step_parts.h"
#include "base/error.h"
#include "base/text.h"
#include "base/units.h"
#include "compare/figures.h"
#include "stats/median.h"

namespace paceline::compare {
namespace {

using analysis::traces::RankTrace;
using analysis::traces::TraceStep;
using stats::Verdict;

constexpr std::size_t kFewestForAClaim = 6, kMostParts = 15;
constexpr double kToMs = 1e-6;

struct PartRow {
  const char *name, *title;
  std::int64_t TraceStep::*ns;
};
constexpr std::array kParts{PartRow{"data_wait_ms", "data wait", &TraceStep::data_wait},
                            PartRow{"forward_ms", "forward", &TraceStep::forward},
                            PartRow{"backward_ms", "backward", &TraceStep::backward},
                            PartRow{"optimizer_ms", "optimizer", &TraceStep::optimizer},
                            PartRow{"exposed_ms", "exposed communication", &TraceStep::exposed},
                            PartRow{"rest_ms", "rest of the step", &TraceStep::rest}};

using StepsByNumber = std::map<std::int64_t, std::vector<const TraceStep*>>;

// Steps that every rank has.
StepsByNumber common_steps(const std::vector<RankTrace>& ranks) {
  StepsByNumber steps;
  for (const auto& rank : ranks)
    for (const auto& step : rank.steps) steps[step.number].push_back(&step);
  std::erase_if(steps, [&](const auto& one) { return one.second.size() != ranks.size(); });
  return steps;
}

double mean_ms(const std::vector<const TraceStep*>& ranks, std::int64_t TraceStep::*ns) {
  double sum = 0;
  for (const auto* step : ranks) sum += static_cast<double>(step->*ns);
  return sum * kToMs / static_cast<double>(ranks.size());
}

void add_steps(const StepsByNumber& steps, Profile& profile) {
  ProfilePart step{.name = "step_ms", .title = "step", .decides = true};
  for (const auto& [number, ranks] : steps) {
    std::int64_t longest = 0;
    for (const auto* one : ranks) longest = std::max(longest, one->length);
    step.each_ms.push_back(static_cast<double>(longest) * kToMs);
  }
  profile.parts.push_back(std::move(step));
  for (const auto& row : kParts) {
    ProfilePart part{.name = row.name, .title = row.title};
    for (const auto& [number, ranks] : steps) part.each_ms.push_back(mean_ms(ranks, row.ns));
    if (std::ranges::any_of(part.each_ms, [](double ms) { return ms > 0; }))
      profile.parts.push_back(std::move(part));
  }
}

analysis::difference::TimedParts step_parts_of(const std::vector<RankTrace>& ranks) {
  try {
    return analysis::difference::trace_step_parts(ranks);
  } catch (const Error& error) {
    return {.unit_words = "step", .missing = error.what()};
  }
}

// Per step of a rank, as a mean over the ranks.
void add_operators(const std::vector<RankTrace>& ranks, Profile& profile) {
  struct Sum {
    double ms = 0, calls = 0;
  };
  std::map<std::string, Sum> sums;
  for (const auto& rank : ranks)
    for (const auto& one : rank.operators) {
      const double steps =
          static_cast<double>(std::max<std::int64_t>(rank.operator_steps, 1) * std::ssize(ranks));
      auto& sum = sums[one.name];
      sum.ms += static_cast<double>(rank.device ? one.device_ns : one.host_ns) * kToMs / steps;
      sum.calls += static_cast<double>(one.calls) / steps;
    }
  for (const auto& [name, sum] : sums)
    profile.parts.push_back(
        {.name = "operator." + name, .title = name, .whole_ms = sum.ms, .calls = sum.calls});
}

// Each launch stands for the sum of all launches of its kernel, which nothing measured together.
analysis::difference::TimedParts kernel_parts(const std::map<std::string, std::vector<double>>& kernels) {
  analysis::difference::TimedParts side{.unit_words = "file", .ordered = false, .whole_is_sum = true};
  for (const auto& [name, times] : kernels) {
    analysis::difference::TimedPart part{.is = {"kernel", name}};
    part.calls = static_cast<double>(times.size());
    for (const double ms : times) part.times_ns.push_back(ms / kToMs * part.calls);
    side.parts.push_back(std::move(part));
  }
  if (side.parts.empty()) side.missing = "it has no kernels with times";
  return side;
}

Profile profile_of_kernels(Side side, const std::map<std::string, std::vector<double>>& kernels) {
  Profile profile{.side = std::move(side), .subject = {}, .unit = "launch"};
  profile.explaining.push_back({"kernels", kernel_parts(kernels)});
  double all = 0;
  for (const auto& [name, times] : kernels) {
    ProfilePart part{.name = "kernel." + name, .title = name, .each_ms = times};
    double sum = 0;
    for (const double ms : times) sum += ms;
    part.whole_ms = sum, part.calls = static_cast<double>(times.size());
    all += sum;
    profile.parts.push_back(std::move(part));
  }
  profile.parts.insert(
      profile.parts.begin(),
      ProfilePart{.name = "kernels_ms", .title = "all kernels", .decides = true, .whole_ms = all});
  return profile;
}

const ProfilePart* part_named(const Profile& profile, const std::string& name) {
  const auto found = std::ranges::find(profile.parts, name, &ProfilePart::name);
  return found == profile.parts.end() ? nullptr : &*found;
}

// Returns the time of a step or of all calls; else the median step.
Number value_of(const ProfilePart* part) {
  if (!part) return Number::missing("not on this side");
  if (part->whole_ms || part->each_ms.empty()) return part->whole_ms;
  return stats::median(part->each_ms);
}

std::string calls_words(const ProfilePart* a, const ProfilePart* b) {
  if (!a) return "new";
  if (!b) return "gone";
  if (!a->calls || !b->calls || format_count(*a->calls) == format_count(*b->calls)) return {};
  return fmt::format("{} calls instead of {}", format_count(*b->calls), format_count(*a->calls));
}

std::vector<double> positive(const ProfilePart* part) {
  std::vector<double> values;
  if (part) std::ranges::copy_if(part->each_ms, std::back_inserter(values), [](double ms) { return ms > 0; });
  return values;
}

void state_doubt(Figure& figure, const std::string& unit, std::size_t a, std::size_t b) {
  if (figure.shows == Verdict::kRegression || figure.shows == Verdict::kImprovement)
    figure.doubt = fmt::format(
        "suspected: nothing pairs the {}s of two jobs, so drift between them may be the cause", unit);
  else if (figure.shows == Verdict::kEquivalent)
    figure.doubt = "no change is seen, but jobs at different times cannot show that there is none";
  else if (std::min(a, b) < kFewestForAClaim)
    figure.doubt = fmt::format("{} on one side: a claim needs {}",
                               plural(static_cast<std::int64_t>(std::min(a, b)), unit), kFewestForAClaim);
}

Figure figure_of(const ProfilePart* a, const ProfilePart* b, const std::string& unit, double threshold) {
  const auto& named = a ? *a : *b;
  Figure figure{
      .name = named.name, .title = named.title, .unit = "ms", .decides = named.decides, .delta = threshold};
  if (const auto calls = calls_words(a, b); !calls.empty()) figure.title += " (" + calls + ")";
  figure.a = value_of(a), figure.b = value_of(b);
  const auto from = positive(a), to = positive(b);
  figure.change = figure.a && figure.b && *figure.a > 0 ? Number(*figure.b / *figure.a)
                                                        : Number::missing("not on both sides");
  figure.doubt = "one sum of all calls has no interval";
  figure.counted = unit == "launch" ? "call" : unit;
  if (std::min(from.size(), to.size()) >= kFewestForAClaim) judge_apart(figure, from, to, "");
  // The sum counts where calls came or went.
  if (named.whole_ms && figure.a && figure.b && *figure.a > 0 && !calls_words(a, b).empty()) {
    figure.change = *figure.b / *figure.a;
    figure.ci.reset();
    figure.shows = Verdict::kInconclusive;
    figure.doubt = "its number of calls changed";
  } else if (!from.empty() || !to.empty()) {
    state_doubt(figure, unit, from.size(), to.size());
  }
  return figure;
}

double difference_of(const Figure& figure) {
  return std::abs(figure.b.value().value_or(0) - figure.a.value().value_or(0));
}

// Steps and their parts stay; of the rest what differs most.
void keep_largest(std::vector<Figure>& figures) {
  const auto detail = [](const Figure& f) {
    return f.name.starts_with("operator.") || f.name.starts_with("kernel.");
  };
  const auto from =
      std::stable_partition(figures.begin(), figures.end(), [&](const auto& f) { return !detail(f); });
  std::stable_sort(from, figures.end(),
                   [](const auto& a, const auto& b) { return difference_of(a) > difference_of(b); });
  if (static_cast<std::size_t>(figures.end() - from) > kMostParts)
    figures.erase(from + kMostParts, figures.end());
}

// A first explanation may say why there is none; further ones only claim.
void explain_profiles(const Profile& a, const Profile& b, ComparedCase& one) {
  for (std::size_t i = 0; i < std::min(a.explaining.size(), b.explaining.size()); ++i) {
    auto why = analysis::difference::explain(a.explaining[i].parts, b.explaining[i].parts);
    why.beside_medians = a.unit == "step";
    if (i == 0)
      one.why = std::move(why);
    else if (why.no_claim.empty())
      one.further.push_back({a.explaining[i].of, std::move(why)});
  }
}

ComparedCase compared(const Profile& a, const Profile& b, std::size_t side, double threshold) {
  ComparedCase one{
      .label = a.unit == "step" ? "job" : "file", .side = side, .id_a = a.side.what, .id_b = b.side.what};
  for (const auto& part : a.parts)
    one.figures.push_back(figure_of(&part, part_named(b, part.name), a.unit, threshold));
  for (const auto& part : b.parts)
    if (!part_named(a, part.name)) one.figures.push_back(figure_of(nullptr, &part, a.unit, threshold));
  keep_largest(one.figures);
  explain_profiles(a, b, one);
  return one;
}

}  // namespace

Profile profile_of(Side side, const std::vector<RankTrace>& ranks) {
  Profile profile{.side = std::move(side), .subject = "jobs", .unit = "step"};
  const auto steps = common_steps(ranks);
  add_steps(steps, profile);
  add_operators(ranks, profile);
  profile.explaining.push_back({"parts of a step", step_parts_of(ranks)});
  profile.explaining.push_back({"operators", analysis::difference::trace_operator_parts(ranks)});
  profile.side.what +=
      fmt::format(" ({}, {})", plural(std::ssize(ranks), "rank"), plural(std::ssize(steps), "step"));
  return profile;
}

Profile profile_of(Side side, const nsight::NcuFile& file) {
  std::map<std::string, std::vector<double>> kernels;
  for (const auto& launch : file.launches)
    for (const auto* metric : {"gpu__time_duration.sum", "Duration"})
      if (const auto found = launch.metrics.find(metric); found != launch.metrics.end()) {
        kernels[launch.name].push_back(found->second * kToMs);
        break;
      }
  auto profile = profile_of_kernels(std::move(side), kernels);
  profile.subject = "files of Nsight Compute";
  profile.remarks = file.remarks;
  return profile;
}

Profile profile_of(Side side, const nsight::NsysFile& file) {
  std::map<std::string, std::vector<double>> kernels;
  for (const auto& kernel : file.kernels)
    kernels[kernel.name].push_back(static_cast<double>(kernel.end - kernel.start) * kToMs);
  auto profile = profile_of_kernels(std::move(side), kernels);
  profile.subject = "files of Nsight Systems";
  profile.remarks = file.remarks;
  return profile;
}

Comparison compare_profiles(const std::vector<Profile>& sides, double threshold) {
  Comparison comparison;
  comparison.subject = fmt::format("{} {}", sides.size(), sides.front().subject);
  for (const auto& one : sides) {
    comparison.sides.push_back(one.side);
    for (const auto& remark : one.remarks) comparison.remarks.push_back(one.side.name + ": " + remark);
  }
  for (std::size_t side = 1; side < sides.size(); ++side)
    comparison.cases.push_back(compared(sides.front(), sides[side], side, threshold));
  settle(comparison);
  return comparison;
}

}  // namespace paceline::compare
