// SPDX-License-Identifier: MIT
#include "report/environment_rows.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>

#include "base/text.h"
#include "base/units.h"

namespace paceline::report {
namespace {

using Json = nlohmann::json;
using Rows = std::vector<std::pair<std::string, std::string>>;

std::string scalar_text(const Json& value) {
  if (value.is_null()) return "not known";
  if (value.is_string()) return value.get<std::string>();
  return value.dump(-1, ' ', false, Json::error_handler_t::replace);
}

bool all_scalars(const Json& list) {
  for (const Json& item : list)
    if (item.is_structured()) return false;
  return true;
}

std::string list_text(const Json& list) {
  std::vector<std::string> words;
  for (const Json& item : list) words.push_back(scalar_text(item));
  return words.empty() ? "none" : join(words, " ");
}

void add_rows(const Json& value, const std::string& path, Rows& rows) {
  if (value.is_object() || (value.is_array() && !all_scalars(value))) {
    for (const auto& [key, item] : value.items())
      add_rows(item, path.empty() ? key : fmt::format("{}.{}", path, key), rows);
    return;
  }
  rows.emplace_back(path, value.is_array() ? list_text(value) : scalar_text(value));
}

struct MachineField {
  const char* pointer;
  std::string (*show)(const Json&);
};

std::string as_text(const Json& value) {
  return scalar_text(value);
}
// GPUs of the same name are counted.
std::string as_gpus(const Json& gpus) {
  std::map<std::string, int> counts;
  for (const Json& gpu : gpus)
    if (const auto name = gpu.value("name", Json()); name.is_string()) ++counts[name.get<std::string>()];
  std::vector<std::string> words;
  for (const auto& [name, count] : counts)
    words.push_back(count == 1 ? name : fmt::format("{} x {}", count, name));
  return join(words, ", ");
}
std::string as_driver(const Json& value) {
  return value.is_null() ? "" : "NVIDIA driver " + scalar_text(value);
}
std::string as_cores(const Json& value) {
  return scalar_text(value) + " cores";
}
std::string as_bytes(const Json& value) {
  return value.is_number() ? format_bytes(value.get<double>()) : "";
}
std::string as_governor(const Json& value) {
  return "governor " + (value.is_null() ? "not visible" : scalar_text(value));
}
std::string as_kernel(const Json& value) {
  return "Linux " + scalar_text(value);
}

constexpr std::array<MachineField, 7> kMachine{{
    {"/cpu/model", as_text},
    {"/cpu/cores_online", as_cores},
    {"/memory/total_bytes", as_bytes},
    {"/cpu/governor", as_governor},
    {"/os/kernel", as_kernel},
    {"/nvidia/gpus", as_gpus},
    {"/nvidia/driver_version", as_driver},
}};

}  // namespace

Rows flat_rows(const Json& record) {
  Rows rows;
  if (record.is_object()) add_rows(record, "", rows);
  return rows;
}

std::string machine_line(const Json& environment) {
  std::vector<std::string> parts;
  for (const auto& [pointer, show] : kMachine) {
    const Json::json_pointer at(pointer);
    if (!environment.contains(at) || environment.at(at).is_object()) continue;
    std::string part = show(environment.at(at));
    if (!part.empty()) parts.push_back(std::move(part));
  }
  return parts.empty() ? "machine not recorded" : join(parts, " · ");
}

std::string library_line(const result::RunResult& run) {
  constexpr std::string_view kPrefix = "version.";
  std::vector<std::string> parts;
  for (const auto& one : run.cases)
    for (const auto& [key, value] : one.effective_settings) {
      if (!key.starts_with(kPrefix)) continue;
      std::string part = key.substr(kPrefix.size()) + " " + value;
      if (std::find(parts.begin(), parts.end(), part) == parts.end()) parts.push_back(std::move(part));
    }
  return join(parts, " · ");
}

}  // namespace paceline::report
