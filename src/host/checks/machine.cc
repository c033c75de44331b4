// SPDX-License-Identifier: MIT
#include "host/checks/machine.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/bounded_json.h"
#include "base/display_text.h"
#include "base/error.h"
#include "base/file.h"
#include "base/foreign_text.h"
#include "base/text.h"
#include "host/checks/fact_rules.h"

namespace paceline::host {
namespace {

constexpr const char* kMachineFormat = "paceline machine";
constexpr int kFormatVersion = 1;

// Lists become words.
nlohmann::json plain(const nlohmann::json& value) {
  if (!value.is_array()) return value;
  std::vector<std::string> words;
  for (const auto& word : value)
    if (word.is_string()) words.push_back(word.get<std::string>());
  return join(words, " ");
}

Fact fact_at(std::string name, const nlohmann::json& object, std::string_view pointer) {
  const std::string path(pointer);
  const nlohmann::json value = object.value(nlohmann::json::json_pointer(path), nlohmann::json());
  const nlohmann::json reason =
      object.value(nlohmann::json::json_pointer(path + "_reason"), nlohmann::json());
  return {std::move(name), plain(value),
          value.is_null() && reason.is_string() ? reason.get<std::string>() : std::string()};
}

// Rows of /proc/self/limits, whose first number is the soft limit.
struct LimitRow {
  const char *fact, *field;
};
constexpr std::array<LimitRow, 3> kLimitRows{{{"open files", "Max open files"},
                                              {"locked memory", "Max locked memory"},
                                              {"processes", "Max processes"}}};

Fact limit_of(const LimitRow& row, const std::string& limits) {
  for (const auto& line : split(limits, '\n')) {
    if (!line.starts_with(row.field)) continue;
    const auto words = words_of(line.substr(std::string(row.field).size()));
    if (!words.empty() && words.front() == "unlimited") return {row.fact, {}, kNoLimit};
    if (const auto number = words.empty() ? std::nullopt : parse_int(words.front()))
      return {row.fact, *number, {}};
  }
  return {row.fact, {}, "/proc/self/limits does not say"};
}

void add_gpus(const nlohmann::json& environment, std::vector<Fact>& facts) {
  const nlohmann::json gpus =
      environment.value(nlohmann::json::json_pointer("/nvidia/gpus"), nlohmann::json::array());
  facts.push_back({"GPUs", gpus.size(), {}});
  for (std::size_t i = 0; i < gpus.size(); ++i)
    for (const auto& rule : gpu_fact_rules())
      facts.push_back(fact_at(fmt::format("GPU {} {}", i, rule.name), gpus[i], rule.pointer));
}

[[noreturn]] void no_machine(const std::string& origin, const std::string& why) {
  throw Error(ErrorCode::kData,
              fmt::format("{} is no machine as validate --save writes it: {}", origin, why));
}

// A number that only an unsigned one holds would otherwise be negative.
bool is_newer(const nlohmann::json& version) {
  return version.is_number_unsigned() ? version.get<std::uint64_t>() > kFormatVersion
                                      : version.get<std::int64_t>() > kFormatVersion;
}

// Text of another host must not forge lines.
std::string read_text(const nlohmann::json& json) {
  return on_one_line(json.get<std::string>());
}

// Throws what is not there or of another type as an exception of the JSON library.
Machine read_fields(const nlohmann::json& json) {
  Machine machine{
      read_text(json.at("paceline")), read_text(json.at("host")), read_text(json.at("taken_utc")), {}, {}};
  for (const char* list : {"facts", "load"})
    if (json.at(list).size() > kMostFacts)
      throw std::runtime_error(fmt::format("it has more than {} {}", kMostFacts, list));
  for (const auto& one : json.at("facts")) {
    const nlohmann::json& value = one.at("value");
    if (value.is_structured()) throw std::runtime_error("the value of a fact is a list or an object");
    machine.facts.push_back(
        {read_text(one.at("name")), value, read_text(one.value("reason", nlohmann::json("")))});
  }
  machine.load_disturbed = json.value("load_disturbed", false);
  for (const auto& one : json.at("load"))
    machine.load.push_back({read_text(one.at("where")), read_text(one.at("what")), read_text(one.at("unit")),
                            one.at("median"), one.at("low"), one.at("high"), one.at("n")});
  return machine;
}

}  // namespace

const Fact* find_fact(const Machine& machine, std::string_view name) {
  const auto found = std::ranges::find(machine.facts, name, &Fact::name);
  return found == machine.facts.end() ? nullptr : &*found;
}

std::vector<Fact> facts_of(const nlohmann::json& environment, const SystemFiles& files) {
  std::vector<Fact> facts;
  for (const auto& rule : fact_rules())
    if (!rule.pointer.empty()) facts.push_back(fact_at(std::string(rule.name), environment, rule.pointer));
  const nlohmann::json affinity =
      environment.value(nlohmann::json::json_pointer("/cpu/affinity"), nlohmann::json(""));
  facts.push_back({"CPUs in the affinity mask", parse_cpu_list(affinity.get<std::string>()).size(), {}});
  std::ranges::move(limit_facts(files), std::back_inserter(facts));
  add_gpus(environment, facts);
  const nlohmann::json variables = environment.value("variables", nlohmann::json::object());
  for (const auto& [name, value] : variables.items())
    facts.push_back({"variable " + on_one_line(name), value, {}});
  return facts;
}

std::vector<Fact> limit_facts(const SystemFiles& files) {
  const auto limits = files.read("proc/self/limits").value_or("");
  std::vector<Fact> facts;
  for (const auto& row : kLimitRows) facts.push_back(limit_of(row, limits));
  return facts;
}

nlohmann::json to_json(const Machine& machine) {
  nlohmann::json facts = nlohmann::json::array(), load = nlohmann::json::array();
  for (const auto& [name, value, reason] : machine.facts) {
    facts.push_back({{"name", name}, {"value", value}});
    if (value.is_null()) facts.back()["reason"] = reason;
  }
  for (const auto& f : machine.load)
    load.push_back({{"where", f.where},
                    {"what", f.what},
                    {"unit", f.unit},
                    {"median", f.median},
                    {"low", f.low},
                    {"high", f.high},
                    {"n", f.n}});
  return {{"format", kMachineFormat},       {"format_version", kFormatVersion},
          {"paceline", machine.paceline},   {"host", machine.host},
          {"taken_utc", machine.taken_utc}, {"facts", std::move(facts)},
          {"load", std::move(load)},        {"load_disturbed", machine.load_disturbed}};
}

Machine machine_from_json(const nlohmann::json& json, const std::string& origin) {
  if (!json.is_object() || json.value("format", nlohmann::json()) != nlohmann::json(kMachineFormat))
    no_machine(origin, fmt::format("it has no \"format\": \"{}\"", kMachineFormat));
  const nlohmann::json version = json.value("format_version", nlohmann::json());
  if (!version.is_number_integer() || version < 1) no_machine(origin, "it has no format_version");
  if (is_newer(version))
    throw Error(ErrorCode::kData,
                fmt::format("{} was written by a newer Paceline (format_version {}, this one reads {}); "
                            "save it again with this version, or update Paceline",
                            origin, version.dump(), kFormatVersion));
  try {
    return read_fields(json);
  } catch (const std::exception& e) {
    no_machine(origin, plain_reason(e));
  }
}

Machine read_machine(const std::filesystem::path& file) {
  const auto origin = file.string();
  const auto text = read_foreign(file, Foreign::kMachine);
  const auto json = json_or_discarded(text);
  if (json.is_discarded())
    no_machine(origin, text.empty() ? "it is empty" : "it is not JSON, or was cut off");
  return machine_from_json(json, origin);
}

}  // namespace paceline::host
