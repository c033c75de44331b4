// SPDX-License-Identifier: MIT
#include "history/listing.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "base/csv_cell.h"
#include "base/display_text.h"
#include "base/lower_case.h"
#include "base/text.h"
#include "base/units.h"
#include "result/metric_table.h"

namespace paceline::history {
namespace {

using Json = nlohmann::json;

constexpr std::string_view kTimeForm = "dddd-dd-ddTdd:dd:ddZ";

bool is_one_of(const std::string& value, const std::vector<std::string>& wanted) {
  return wanted.empty() || std::ranges::find(wanted, value) != wanted.end();
}

bool has_tag(const Indexed& one, const std::vector<std::string>& wanted) {
  return wanted.empty() || std::ranges::any_of(wanted, [&](const std::string& tag) {
           return std::ranges::count(one.tags, tag) + std::ranges::count(one.pins, tag) > 0;
         });
}

bool is_selected_case(const CaseEntry& one, const Filter& filter) {
  const bool named =
      filter.case_text.empty() ||
      lower_case(one.label + "\n" + one.case_id).find(lower_case(filter.case_text)) != std::string::npos;
  return named && is_one_of(one.model, filter.models) && is_one_of(one.engine, filter.engines);
}

bool is_selected_run(const Indexed& one, const Filter& filter) {
  const auto& started = one.run.started_utc;
  return is_one_of(one.run.experiment, filter.experiments) && has_tag(one, filter.tags) &&
         (filter.since.empty() || started >= filter.since) &&
         (filter.until.empty() || started.substr(0, filter.until.size()) <= filter.until);
}

bool selects_cases(const Filter& filter) {
  return !filter.models.empty() || !filter.engines.empty() || !filter.case_text.empty();
}

std::string headline_words(const RunEntry& run) {
  for (const auto& one : run.cases)
    if (const auto* figure = headline_figure(one)) return figure_words(*figure);
  return answer::kNone;
}

std::string names_words(const Indexed& one) {
  auto names = one.tags;
  for (const auto& pin : one.pins) names.push_back(pin + " (pin)");
  return join(names, ", ");
}

std::string outcome_words(const Indexed& one) {
  return one.run.outcome + (one.gone ? ", gone" : one.elsewhere ? ", imported" : "");
}

std::string cases_words(const RunEntry& run) {
  return run.cases.size() == 1 ? run.cases.front().label : fmt::format("{} cases", run.cases.size());
}

Json json_of_run(const Indexed& one) {
  auto cases = Json::array();
  for (const auto& c : one.run.cases) {
    Json entry{{"case_id", c.case_id}, {"case_key", c.key}, {"label", c.label}, {"outcome", c.outcome}};
    for (const auto& figure : c.figures) entry["figures"][figure.metric] = figure.value;
    cases.push_back(std::move(entry));
  }
  return {{"run_id", one.run.run_id},
          {"folder", one.run.folder},
          {"experiment", one.run.experiment},
          {"started_utc", one.run.started_utc},
          {"machine", one.run.machine},
          {"version", one.run.version},
          {"git_sha", one.run.git_sha},
          {"source_commit", one.run.commit},
          {"outcome", one.run.outcome},
          {"note", one.run.note},
          {"gone", one.gone},
          {"tags", one.tags},
          {"pins", one.pins},
          {"cases", std::move(cases)}};
}

}  // namespace

void check_time(const std::string& flag, const std::string& text) {
  const auto fits = [](char c, char form) {
    return form == 'd' ? std::isdigit(static_cast<unsigned char>(c)) != 0 : c == form;
  };
  constexpr std::size_t kYear = 4;
  bool well = text.size() >= kYear && text.size() <= kTimeForm.size();
  for (std::size_t i = 0; well && i < text.size(); ++i) well = fits(text[i], kTimeForm[i]);
  if (!well)
    throw Error(ErrorCode::kUsage,
                fmt::format("{} '{}': write a UTC time or its beginning, e.g. 2026-11-21 or 2026-11-21T10:30",
                            flag, shown_value(text)));
}

std::vector<Indexed> selected(std::vector<Indexed> runs, const Filter& filter) {
  std::erase_if(runs, [&](Indexed& one) {
    if (!is_selected_run(one, filter)) return true;
    std::erase_if(one.run.cases, [&](const CaseEntry& c) { return !is_selected_case(c, filter); });
    return selects_cases(filter) && one.run.cases.empty();
  });
  return runs;
}

std::string figure_words(const Figure& figure) {
  const auto* metric = result::find_metric(figure.metric);
  if (!metric) return fmt::format("{} {}", figure.metric, format_significant(figure.value));
  const auto unit = metric->unit == "1" ? std::string() : " " + std::string(metric->unit);
  return fmt::format("{} {}{}", metric->title, format_significant(figure.value), unit);
}

answer::Answer list_answer(const std::vector<Indexed>& runs, std::size_t most, const Updated& updated,
                           const std::filesystem::path& results) {
  answer::Answer answer{.title = "history", .sentence = {}};
  answer::Table table{
      .heads = {"when (UTC)", "run", "experiment", "cases", "figure", "outcome", "tags", "note"},
      .numbers_from = answer::kNoNumbers};
  answer.data["runs"] = Json::array();
  const auto shown = most == 0 ? runs.size() : std::min(most, runs.size());
  for (const auto& one : std::span(runs).first(shown)) {
    table.add(one.run.started_utc, one.run.run_id, one.run.experiment, cases_words(one.run),
              headline_words(one.run), outcome_words(one), names_words(one), one.run.note);
    answer.data["runs"].push_back(json_of_run(one));
  }
  const auto where = shown_path(results.string());
  const auto count = runs.empty() ? std::string("no run") : plural(std::ssize(runs), "run");
  answer.sentence =
      shown < runs.size()
          ? fmt::format("{} of {} in {}, the newest first; --limit 0 lists all", shown, count, where)
          : fmt::format("{} in {}{}", count, where, runs.empty() ? " matches" : "");
  answer.sections.push_back({.title = "Runs", .table = std::move(table)});
  for (const auto& why : updated.unreadable) answer.remarks.push_back("left out: " + why);
  return answer;
}

std::string runs_csv(const std::vector<Indexed>& runs) {
  std::string out =
      "run_id,started_utc,experiment,outcome,version,git_sha,source_commit,machine,case_id,case_key,label,"
      "grade,"
      "metric,value,ci_low,ci_high\n";
  const auto number = [](const std::optional<double>& value) {
    return value ? fmt::format("{:.9g}", *value) : std::string();
  };
  for (const auto& one : runs) {
    const auto& run = one.run;
    const auto of_run =
        fmt::format("{},{},{},{},{},{},{},{}", csv_cell(run.run_id), csv_cell(run.started_utc),
                    csv_cell(run.experiment), csv_cell(run.outcome), csv_cell(run.version),
                    csv_cell(run.git_sha), csv_cell(run.commit), csv_cell(run.machine));
    for (const auto& c : run.cases)
      for (const auto& figure : c.figures)
        out += fmt::format("{},{},{},{},{},{},{},{},{}\n", of_run, csv_cell(c.case_id), csv_cell(c.key),
                           csv_cell(c.label), csv_cell(c.grade), csv_cell(figure.metric),
                           number(figure.value), number(figure.low), number(figure.high));
  }
  return out;
}

}  // namespace paceline::history
