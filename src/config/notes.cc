// SPDX-License-Identifier: MIT
#include "config/notes.h"

#include <fmt/format.h>

#include <string>

#include "base/display_text.h"
#include "base/text.h"

namespace paceline::config {
namespace {

constexpr std::size_t kMostOfNote = 4096;  // bytes

// Why a text is no note; empty: it is one.
std::string problem_of(const std::string& note) {
  if (note.size() > kMostOfNote)
    return fmt::format("has {} bytes; a note has at most {}", note.size(), kMostOfNote);
  if (without_controls(note, "") != note)
    return "has a control character or a line end; a note is one line, and several notes are a list";
  return {};
}

}  // namespace

void settle_notes(std::vector<RawSetting>& settings, std::vector<Diagnostic>& problems) {
  for (auto& setting : settings) {
    if (setting.name != "note") continue;
    for (auto& value : setting.values) {
      value.text = std::string(trim(value.text));
      if (const auto problem = problem_of(value.text); !problem.empty())
        problems.push_back(diagnostic(
            value.place, fmt::format("{} '{}' {}", setting.on_command_line ? setting.name : setting.written,
                                     shown_value(value.text), problem)));
    }
    std::erase_if(setting.values, [](const RawValue& value) { return value.text.empty(); });
  }
  std::erase_if(settings, [](const RawSetting& s) { return s.name == "note" && s.values.empty(); });
}

}  // namespace paceline::config
