// SPDX-License-Identifier: MIT
#include "cli/answer_output.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "answer/render/answer_forms.h"
#include "base/bounded_json.h"
#include "base/display_text.h"
#include "base/error.h"
#include "base/lower_case.h"
#include "base/text.h"
#include "cli/documents.h"
#include "result/stored/result_json.h"

namespace paceline::cli {
namespace fs = std::filesystem;
using report::FormatKind;
namespace {

// Names in foreign profiles may contain controls, which JSON would keep raw.
std::string json_document(const answer::Answer& answer) {
  return json_without_controls(result::json_text(answer::json_of(answer)));
}

constexpr std::array kFormats{
    AnswerFormat{"text", ".txt", "the text of the terminal", FormatKind::kText,
                 [](const answer::Answer& answer) { return answer::terminal_of(answer, {}); }},
    AnswerFormat{"html", ".html", "one self-contained page", FormatKind::kPage, answer::html_of},
    AnswerFormat{"markdown", ".md", "one page for a ticket", FormatKind::kText, answer::markdown_of},
    AnswerFormat{"json", ".json", "everything, for programs", FormatKind::kText, json_document},
    AnswerFormat{"junit", ".xml", "a test for each check, for CI", FormatKind::kText, answer::junit_of},
    AnswerFormat{"pdf", ".pdf", "the page on paper, printed by an installed Chromium or Chrome",
                 FormatKind::kPaper, answer::html_of}};

const AnswerFormat* format_of_ending(const fs::path& output) {
  auto ending = lower_case(output.extension().string());
  if (output == kStandardOutput || ending.empty() || fs::is_directory(output)) return nullptr;
  if (ending == ".htm") ending = ".html";
  if (ending == ".markdown") ending = ".md";
  const auto* found = std::ranges::find(kFormats, ending, &AnswerFormat::ending);
  if (found != kFormats.end()) return found;
  std::vector<std::string> endings;
  for (const auto& format : kFormats) endings.emplace_back(format.ending);
  throw Error(ErrorCode::kUsage,
              fmt::format("--output {}: no format has the ending {}; write one of {}, or add --format NAME",
                          shown_path(output.string()), ending, join(endings, ", ")));
}

// For --quiet: what failed, and the sentence.
answer::Answer brief(const answer::Answer& answer) {
  answer::Answer out{.title = answer.title, .sentence = answer.sentence};
  std::ranges::copy_if(answer.checks, std::back_inserter(out.checks),
                       [](const answer::Check& check) { return check.verdict == answer::Verdict::kNo; });
  return out;
}

bool replaces_text(const AnswerFormat& format, const fs::path& output) {
  return output == kStandardOutput || (output.empty() && format.kind == FormatKind::kText);
}

}  // namespace

std::span<const AnswerFormat> answer_formats() {
  return kFormats;
}

AnswerOutput answer_output(const config::FlagSet& flags, const config::Settings& options,
                           std::string_view name, std::string_view file_option) {
  AnswerOutput out{{}, {}, std::string(name)};
  for (const auto& setting : flags.settings)
    if (setting.name == file_option) out.output = setting.values.front().text;
  if (flags.has("answer_format")) {
    for (const auto& asked : options.texts("answer_format"))
      out.formats.push_back(std::ranges::find(kFormats, asked, &AnswerFormat::name));
  } else if (!out.output.empty()) {
    const auto* by_ending = format_of_ending(out.output);
    out.formats.push_back(by_ending ? by_ending : kFormats.data());
  }
  if (out.output == kStandardOutput)
    for (const auto* format : out.formats)
      if (format->kind == FormatKind::kPaper || out.formats.size() > 1)
        throw Error(ErrorCode::kUsage,
                    fmt::format("--output {}: standard output takes one text; name a {}", kStandardOutput,
                                out.formats.size() > 1 ? "folder" : "file"));
  return out;
}

void show(const answer::Answer& answer, const AnswerOutput& output, const Console& console) {
  if (console.json) console.result(json_document(answer));
  if (std::ranges::none_of(output.formats,
                           [&](const auto* format) { return replaces_text(*format, output.output); }))
    print(console.text(), answer::terminal_of(console.quiet ? brief(answer) : answer,
                                              {console.width, console.ascii, console.colour}));
  for (const auto* format : output.formats) {
    const auto file = output.name + std::string(format->ending);
    deliver(Document{format->kind, format->name, file, format->render(answer), output.output, {}, console});
  }
}

}  // namespace paceline::cli
