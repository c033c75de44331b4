// SPDX-License-Identifier: MIT
#include "cli/run/dry_run.h"

#include <fmt/format.h>

#include <cmath>
#include <string>

#include "base/display_text.h"
#include "base/units.h"
#include "cli/duration.h"
#include "run/kinds.h"

namespace paceline::cli {

std::vector<Outlook> outlook_of(const std::vector<config::Case>& cases, const run::EngineDirectory& engines,
                                int hosts, const run::StoredSpeeds& speeds) {
  std::vector<Outlook> all;
  for (const auto& c : cases) {
    auto& outlook = all.emplace_back(Outlook{&c, {}, speeds.of(c)});
    if (c.not_available.empty()) outlook.known = run::kind_rules(c.kind).outlook(c, engines, hosts);
  }
  return all;
}

namespace {

// Seconds of a case or of all of them.
struct Duration {
  double low = 0, high = 0;  // where times are steady
  double most = 0;           // where they are not

  Duration& operator+=(const Duration& more) {
    low += more.low, high += more.high, most += more.most;
    return *this;
  }
  // In the middle of the range, by its factor.
  [[nodiscard]] double middle() const { return std::sqrt(low * high); }
};

// Why nothing of the case would be measured; empty: it would.
std::string no_measurement(const Outlook& outlook) {
  if (!outlook.one->not_available.empty()) return "skipped: " + outlook.one->not_available;
  if (!outlook.known.fails.empty()) return "fails: " + outlook.known.fails;
  return outlook.known.refused.empty() ? "" : "refused: " + outlook.known.refused;
}

Duration duration_of(const Outlook& outlook) {
  using run::End, run::Times;
  if (!no_measurement(outlook).empty()) return {};
  const auto seconds = [&](Times times, End end) {
    return run::estimated_seconds(*outlook.one, {times, end, outlook.stored});
  };
  return {seconds(Times::kSteady, End::kLow), seconds(Times::kSteady, End::kHigh),
          seconds(Times::kUnsteady, End::kHigh)};
}

// "1–3 min, up to 10 min where times are unsteady".
std::string duration_words(const Duration& duration) {
  constexpr double kSame = 1.5;
  const auto words = rough_range(duration.low, duration.high);
  if (duration.most <= kSame * duration.high) return words;
  return fmt::format("{}, up to {} where times are unsteady", words, rough_time(duration.most));
}

std::string_view source_of(const Outlook& outlook) {
  if (outlook.stored) return "stored run";
  return run::is_guessed(*outlook.one) ? "size of the file" : "kind of CPU and size of the model";
}

// `stored`, `others`: numbers of cases.
std::string basis_of(std::int64_t stored, std::int64_t others) {
  const std::string sizes = "the kind of CPU and the size of the models", runs = "stored runs of this host";
  if (stored == 0) return sizes;
  return others == 0 ? runs : fmt::format("{} for {}, else {}", runs, plural(stored, "case"), sizes);
}

nlohmann::json data_of(const std::string& experiment, const std::vector<Outlook>& cases) {
  auto list = nlohmann::json::array();
  Duration total;
  const auto add = [](nlohmann::json& to, const Duration& duration) {
    to["estimated_s"] = duration.middle(), to["estimated_low_s"] = duration.low;
    to["estimated_high_s"] = duration.high, to["estimated_most_s"] = duration.most;
  };
  for (const auto& outlook : cases) {
    const auto duration = duration_of(outlook);
    total += duration;
    nlohmann::json one{{"number", list.size() + 1}, {"case_id", outlook.one->id}};
    add(one, duration);
    if (!outlook.one->where.empty()) one["device"] = outlook.one->where;
    if (!outlook.one->not_available.empty()) one["skipped_because"] = outlook.one->not_available;
    const auto& [fails, refused, memory, memory_figures, remarks] = outlook.known;
    if (!fails.empty()) one["fails_because"] = fails;
    if (no_measurement(outlook).empty()) one["estimated_from"] = source_of(outlook);
    if (!memory_figures.is_null())
      one["memory"] = memory_figures;
    else if (!memory.empty())
      one["memory_words"] = memory;
    if (!refused.empty()) one["refused_because"] = refused;
    list.push_back(std::move(one));
  }
  nlohmann::json planned{{"experiment_name", experiment}, {"cases", list}};
  add(planned, total);
  return planned;
}

// A case that is not measured has its reason as a note, since it may be long.
answer::Cell duration_cell(const Outlook& outlook) {
  const auto why_not = no_measurement(outlook);
  answer::Cell cell(why_not.empty() ? duration_words(duration_of(outlook)) : why_not);
  if (why_not.empty()) return cell;
  cell.note = why_not;
  cell.brief = why_not.substr(0, why_not.find(':'));
  return cell;
}

std::string sentence_of(const std::vector<Outlook>& cases) {
  Duration total;
  std::int64_t stored = 0, guessed = 0;
  for (const auto& outlook : cases) {
    total += duration_of(outlook);
    if (no_measurement(outlook).empty()) ++(outlook.stored ? stored : guessed);
  }
  const auto number = plural(std::ssize(cases), "case");
  if (stored + guessed == 0) return number + ", none of which is measured";
  return fmt::format("{}, {} (from {})", number, duration_words(total), basis_of(stored, guessed));
}

}  // namespace

answer::Answer planned_answer(const std::string& experiment, const std::vector<Outlook>& cases) {
  answer::Section section{.table = {.heads = {"", "case", "takes"}, .numbers_to = 1, .columns_kept = 3}};
  section.table.numbers_from = 0;
  for (const auto& outlook : cases) {
    const auto number = std::to_string(section.table.rows.size() + 1);
    section.table.add(number, outlook.one->id, duration_cell(outlook));
    if (!no_measurement(outlook).empty()) continue;
    if (!outlook.known.memory.empty())
      section.notes.push_back(fmt::format("case {}: memory: {}", number, outlook.known.memory));
    for (const auto& words : outlook.known.remarks)
      section.notes.push_back(fmt::format("case {}: {}", number, words));
  }
  return {.title = experiment,
          .sentence = sentence_of(cases),
          .sections = {std::move(section)},
          .data = data_of(experiment, cases)};
}

}  // namespace paceline::cli
