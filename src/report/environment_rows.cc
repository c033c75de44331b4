// SPDX-License-Identifier: MIT
#include "report/environment_rows.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>

#include "base/text.h"
#include "base/units.h"
#include "report/report_run.h"

namespace paceline::report {
namespace {

using Json = nlohmann::json;
using Rows = std::vector<std::pair<std::string, std::string>>;

std::string scalar_text(const Json& value) {
  if (value.is_null()) return "not known";
  if (value.is_string()) return value.get<std::string>();
  return value.dump(-1, ' ', false, Json::error_handler_t::replace);
}

std::string list_text(const Json& list) {
  std::vector<std::string> words;
  for (const Json& item : list) words.push_back(scalar_text(item));
  return words.empty() ? "none" : join(words, " ");
}

void add_rows(const Json& value, const std::string& path, Rows& rows) {
  if (value.is_object() || (value.is_array() && std::ranges::any_of(value, &Json::is_structured))) {
    for (const auto& [key, item] : value.items())
      add_rows(item, path.empty() ? key : fmt::format("{}.{}", path, key), rows);
    return;
  }
  rows.emplace_back(path, value.is_array() ? list_text(value) : scalar_text(value));
}

// GPUs of the same name are counted.
std::string gpus_text(const Json& gpus) {
  std::map<std::string, int> counts;
  for (const Json& gpu : gpus)
    if (gpu.is_object() && gpu.value("name", Json()).is_string()) ++counts[gpu.at("name").get<std::string>()];
  std::vector<std::string> words;
  for (const auto& [name, count] : counts)
    words.push_back(count == 1 ? name : fmt::format("{} x {}", count, name));
  return join(words, ", ");
}

std::string bytes_text(const Json& value) {
  return value.is_number() ? format_bytes(value.get<double>()) : "";
}

struct MachineField {
  const char* pointer;
  const char* words;
  std::string_view of_null;  // what stands for null; empty: nothing does, not even the words
  std::string (*show)(const Json&) = scalar_text;
};

constexpr std::array<MachineField, 7> kMachine{{
    {"/cpu/model", "{}", "not known"},
    {"/cpu/cores_online", "{} cores", "not known"},
    {"/memory/total_bytes", "{}", "", bytes_text},
    {"/cpu/governor", "governor {}", "not visible"},
    {"/os/kernel", "Linux {}", "not known"},
    {"/nvidia/gpus", "{}", "", gpus_text},
    {"/nvidia/driver_version", "NVIDIA driver {}", ""},
}};

}  // namespace

Rows flat_rows(const Json& record) {
  Rows rows;
  if (record.is_object()) add_rows(record, "", rows);
  return rows;
}

std::string machine_line(const Json& environment) {
  std::vector<std::string> parts;
  for (const auto& [pointer, words, of_null, show] : kMachine) {
    const Json::json_pointer at(pointer);
    if (!environment.contains(at) || environment.at(at).is_object()) continue;
    const Json& value = environment.at(at);
    const std::string text = value.is_null() ? std::string(of_null) : show(value);
    if (!text.empty()) parts.push_back(fmt::format(fmt::runtime(words), text));
  }
  return parts.empty() ? "machine not recorded" : join(parts, " · ");
}

std::string commit_words(const Json& environment) {
  constexpr std::size_t kShown = 12;
  const Json::json_pointer commit("/sources/commit"), modified("/sources/modified");
  if (!environment.contains(commit) || !environment.at(commit).is_string()) return {};
  const Json differs = environment.value(modified, Json());
  return environment.at(commit).get<std::string>().substr(0, kShown) + (!differs.is_boolean()
                                                                            ? ", changes not known"
                                                                        : differs ? ", modified"
                                                                                  : "");
}

std::vector<std::string> notes_of(const Json& environment) {
  std::vector<std::string> notes;
  if (environment.contains("notes"))
    for (const Json& note : environment.at("notes"))
      if (note.is_string()) notes.push_back(note);
  return notes;
}

std::string library_line(const result::RunResult& run) {
  constexpr std::string_view kPrefix = "version.";
  std::vector<std::string> parts;
  for (const auto& one : run.cases)
    for (const auto& [key, value] : one.effective_settings) {
      if (!key.starts_with(kPrefix)) continue;
      place_of(key.substr(kPrefix.size()) + " " + value, parts);
    }
  return join(parts, " · ");
}

}  // namespace paceline::report
