// SPDX-License-Identifier: MIT
// Words what would make training with several ranks faster: answers to --what-if, and what is recommended.
#include "analysis/what_if.h"

#include <fmt/format.h>

#include "base/text.h"
#include "base/units.h"
#include "report/subjects.h"

namespace paceline::report {
namespace {

constexpr const char* kAnswersReading =
    "From the buckets, the link and the parts of the step that were measured; computing stays as it is "
    "unless "
    "the change says so. The cost of compressing gradients is not known and left out.";
constexpr const char* kRecommendedReading =
    "Changes that save 2 % of a step or more even at the low end of their range.";

std::string saving_text(const analysis::Answer& answer) {
  return fmt::format("{} ({}–{})", format_ms(answer.saving_ns), format_ms(answer.low_ns),
                     format_ms(answer.high_ns));
}

void add_grades(Section& section, const std::vector<ReportCase>& cases) {
  std::vector<std::string> noisy;
  for (const ReportCase& entry : cases)
    if (entry.one->grade == result::Grade::kC) noisy.push_back(name_of(entry));
  if (!noisy.empty())
    section.paragraphs.push_back(
        fmt::format("Grade C: these times are valid only for the disturbed machine: {}.", join(noisy, ", ")));
}

// A row per answer.
Section answers_section(const std::vector<ReportCase>& cases) {
  Section section;
  section.table = {.heads = {"case", "what if", "step ms", "saves ms (range)", "throughput"},
                   .numbers_from = 2};
  for (const ReportCase& entry : cases)
    for (const auto& answer : analysis::what_if(entry.run->result, *entry.one, entry.run->changes)) {
      auto& row = section.table.rows.emplace_back();
      row.cells = {name_of(entry), answer.change};
      if (!answer.refused.empty()) {
        row.instead = "no answer: " + answer.refused;
        continue;
      }
      row.cells.emplace_back(format_ms(answer.step_ns));
      row.cells.emplace_back(saving_text(answer));
      row.cells.emplace_back(fmt::format("{} times", format_fixed(answer.speed_up, 2)));
    }
  if (section.table.rows.empty()) return {};
  share_labels(section.table);
  section.title = "What if";
  section.paragraphs = {kAnswersReading};
  add_grades(section, cases);
  return section;
}

Section recommended_section(const std::vector<ReportCase>& cases) {
  Section section;
  section.table = {.heads = {"case", "recommended", "saves ms per step (range)", "throughput"},
                   .numbers_from = 2};
  std::string nothing;
  for (const ReportCase& entry : cases) {
    const auto found = analysis::recommendations(entry.run->result, *entry.one);
    for (const auto& answer : found)
      section.table.add(name_of(entry), answer.advice, saving_text(answer),
                        fmt::format("{} times", format_fixed(answer.speed_up, 2)));
    if (found.empty()) nothing += (nothing.empty() ? "" : ", ") + name_of(entry);
  }
  share_labels(section.table);
  if (!section.table.rows.empty()) section.paragraphs = {kRecommendedReading};
  if (!nothing.empty())
    section.paragraphs.push_back(fmt::format("Nothing that is known about would save as much: {}.", nothing));
  if (!section.paragraphs.empty()) section.title = "What would help", add_grades(section, cases);
  return section;
}

Sections what_if_sections(std::span<const ReportRun> runs, Form form) {
  const auto cases = cases_with(runs, analysis::is_on_several_ranks);
  Section answers = answers_section(cases);
  if (form == Form::kTerminal) return answers.title.empty() ? Sections{} : Sections{std::move(answers)};
  return {std::move(answers), recommended_section(cases)};
}

}  // namespace

constexpr Subject kWhatIf{
    .id = "what-if", .heading = "What would make training faster", .of_runs = what_if_sections};

}  // namespace paceline::report
