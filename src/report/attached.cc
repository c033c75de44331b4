// SPDX-License-Identifier: MIT
#include "report/attached.h"

#include <fmt/format.h>

#include <string>
#include <utility>

#include "base/text.h"
#include "base/units.h"
#include "report/case_cells.h"
#include "report/disturbances.h"

namespace paceline::report {
namespace {

using analysis::traces::AttachedStudy;
using analysis::traces::TraceStudy;

constexpr double kCheapRatio = 1.005;  // the most that watching should cost

Table exchange_table(const TraceStudy& study) {
  Table table{.heads = {"collective", "calls per step", "time ms", "exposed ms"}};
  for (const auto& one : study.exchanges)
    table.add(std::string(analysis::traces::word_of(one.kind)), format_count(one.calls),
              format_ms(one.length_ns), format_ms(one.exposed_ns));
  return table;
}

Table other_time_table(const AttachedStudy& attached) {
  Table table{.heads = {"sort of step", "steps", "extra time ms", "share", "how it is recognised"}};
  for (const auto& one : attached.other) {
    const auto& traits = traits_of(one.sort);
    table.add(std::string(traits.title), format_count(static_cast<double>(one.steps)),
              format_ms(one.extra_ns), format_percent(one.share), std::string(traits.means));
  }
  return table;
}

answer::Check watching_check(const AttachedStudy& attached) {
  answer::Check check{.name = "cost_of_watching"};
  if (!attached.watching) {
    check.verdict = answer::Verdict::kNotAsked;
    check.text = "what watching costs is not known: " + attached.watching.reason();
    return check;
  }
  check.text = fmt::format("a step takes {} ({} to {}) times as long while it is watched",
                           format_fixed(*attached.watching, 3), format_fixed(*attached.watching_low, 3),
                           format_fixed(*attached.watching_high, 3));
  if (*attached.watching_high > kCheapRatio && *attached.watching_low <= kCheapRatio) {
    check.verdict = answer::Verdict::kNotAsked;
    check.text += fmt::format("; whether that is below {} is not certain", format_fixed(kCheapRatio, 3));
  }
  if (*attached.watching_low > kCheapRatio) {
    check.verdict = answer::Verdict::kReservedly;
    check.fix = "the steps are so short that their times include watching: compare them among each other";
  }
  return check;
}

}  // namespace

void add_attached(const TraceStudy& study, answer::Answer& answer) {
  const auto& attached = *study.attached;
  if (!study.exchanges.empty())
    answer.sections.push_back({.title = "Communication",
                               .table = exchange_table(study),
                               .notes = {"of the typical rank; collectives may overlap"}});
  if (!attached.other.empty())
    answer.sections.push_back({.title = "Time besides steady steps",
                               .table = other_time_table(attached),
                               .notes = {"extra time: beyond a steady step; share: of the time observed"}});
  if (auto table = disturbance_table(*study.job.training()); !table.rows.empty())
    answer.sections.push_back(
        {.title = kDisturbancesTitle,
         .table = std::move(table),
         .notes = {"others: all processes but the ranks, workers of data loaders included"}});
  answer.checks.push_back(watching_check(attached));
  for (const auto& one : attached.other)
    if (one.sort >= analysis::traces::StepSort::kEpoch && one.share >= 0.01)
      answer.remarks.push_back(
          fmt::format("{}: {} of the time observed", traits_of(one.sort).title, format_percent(one.share)));
  for (const auto& note : attached.notes) answer.remarks.push_back(note);
}

nlohmann::json attached_json(const AttachedStudy& attached) {
  nlohmann::json out{{"torch", attached.torch},
                     {"device", attached.device},
                     {"command", attached.command},
                     {"observed_ns", attached.observed_ns},
                     {"notes", attached.notes}};
  const auto put = [&](const char* name, const Number& number) {
    out[name] = number ? nlohmann::json(*number) : nlohmann::json(nullptr);
    if (!number) out[std::string(name) + "_reason"] = number.reason();
  };
  put("watching_ratio", attached.watching);
  put("watching_ratio_low", attached.watching_low);
  put("watching_ratio_high", attached.watching_high);
  out["other_time"] = nlohmann::json::array();
  for (const auto& one : attached.other)
    out["other_time"].push_back({{"sort", traits_of(one.sort).key},
                                 {"steps", one.steps},
                                 {"extra_ns", one.extra_ns},
                                 {"share", one.share}});
  return out;
}

}  // namespace paceline::report
