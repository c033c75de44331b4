// SPDX-License-Identifier: MIT
#include "history/entry.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <vector>

#include "base/archive.h"
#include "base/sha256.h"
#include "base/text.h"
#include "base/units.h"
#include "result/figures/summarize.h"
#include "result/judged/noise_rules.h"
#include "result/metric_table.h"
#include "result/stored/benchmark_params.h"
#include "result/stored/case_fields.h"
#include "stats/median.h"

namespace paceline::history {
namespace {

using Json = nlohmann::json;

constexpr std::size_t kKeyDigits = 16;
constexpr std::array<std::string_view, 4> kHeadlines{"p50_ms", "back_to_back_ms", "busbw_gb_per_s",
                                                     "throughput_per_s"};

std::string short_digest(const std::string& text) {
  return sha256_hex(text).substr(0, kKeyDigits);
}

const Json* member(const Json& json, std::string_view key) {
  if (!json.is_object()) return nullptr;
  const auto found = json.find(key);
  return found == json.end() || found->is_null() ? nullptr : &*found;
}

std::string text_of(const Json& json, std::string_view key) {
  const auto* found = member(json, key);
  return found && found->is_string() ? found->get<std::string>() : "";
}

std::vector<std::string> gpu_names(const Json& environment) {
  std::vector<std::string> names;
  const auto* nvidia = member(environment, "nvidia");
  const auto* gpus = nvidia ? member(*nvidia, "gpus") : nullptr;
  if (gpus && gpus->is_array())
    for (const auto& gpu : *gpus) names.push_back(text_of(gpu, "name"));
  return names;
}

// Facts of the CPUs that decide how fast they are.
constexpr std::array<std::string_view, 8> kOfCpu{"vendor",   "model",   "family",         "model_number",
                                                 "stepping", "sockets", "cores_physical", "cores_allowed"};

// An imported job names its host alone.
Json host_of(const Json& environment) {
  const auto* system = member(environment, "os");
  const auto* host = system ? member(*system, "host_sha256_16") : nullptr;
  return host ? Json{{"host", *host}} : Json{};
}

Json hardware_of(const Json& environment) {
  const auto* cpu = member(environment, "cpu");
  if (!cpu) return host_of(environment);
  Json facts = Json::object();
  for (const auto key : kOfCpu)
    if (const auto* fact = member(*cpu, key)) facts[std::string(key)] = *fact;
  facts["gpus"] = gpu_names(environment);
  return facts;
}

std::string hardware_words(const Json& environment) {
  const auto* cpu = member(environment, "cpu");
  if (!cpu) return "";
  std::string words = text_of(*cpu, "model");
  const auto* cores = member(*cpu, "cores_allowed");
  if (cores && cores->is_number_integer())
    words += fmt::format(", {}", plural(cores->get<std::int64_t>(), "core"));
  if (const auto names = gpu_names(environment); !names.empty())
    words += fmt::format(", {} x {}", names.size(), names.front());
  return words;
}

// Facts that change under the same hardware.
struct SystemFact {
  const char* name;
  std::string_view group, field;
};
constexpr std::array<SystemFact, 7> kSystemFacts{{{"kernel", "os", "kernel"},
                                                  {"C library", "os", "glibc"},
                                                  {"host", "os", "host_sha256_16"},
                                                  {"microcode", "cpu", "microcode"},
                                                  {"governor", "cpu", "governor"},
                                                  {"driver", "nvidia", "driver_version"},
                                                  {"PyTorch", "job", "torch"}}};

std::map<std::string, std::string> system_of(const Json& environment) {
  std::map<std::string, std::string> facts;
  for (const auto& fact : kSystemFacts)
    if (const auto* group = member(environment, fact.group))
      if (auto text = text_of(*group, fact.field); !text.empty()) facts[fact.name] = std::move(text);
  return facts;
}

std::string notes_of_run(const Json& environment) {
  const auto* notes = member(environment, "notes");
  std::vector<std::string> lines;
  if (notes && notes->is_array())
    for (const auto& line : *notes)
      if (line.is_string()) lines.push_back(line.get<std::string>());
  return join(lines, "; ");
}

std::string commit_of_run(const Json& environment) {
  const auto* sources = member(environment, "sources");
  if (!sources) return "";
  const auto* modified = member(*sources, "modified");
  const bool differs = modified && modified->is_boolean() && modified->get<bool>();
  return text_of(*sources, "commit") + (differs ? "+" : "");
}

void add_control(CaseEntry& one, std::string_view name, const Number& number, double scale) {
  if (number) one.figures.push_back({std::string(name), *number * scale, {}, {}});
}

// A peak is kept for later runs: only one that was measured in this run says how fast the machine was.
Number peak_of_run(const result::Flops& flops, const std::string& started_utc) {
  constexpr std::string_view kMeasured = "measured ", kTime = "2026-11-21T01:45:00Z";
  const auto place = flops.peak_source.rfind(kMeasured);
  if (place == std::string::npos) return Number::missing("no time of its measurement");
  const auto time = flops.peak_source.substr(place + kMeasured.size(), kTime.size());
  return time >= started_utc ? flops.peak_measured_flops_per_s
                             : Number::missing("measured in an earlier run");
}

// Time of the fixed work that every process did, the median over them.
Number control_of_run(const result::CaseResult& c) {
  std::vector<double> times;
  for (const auto& r : c.repetitions)
    if (r.control_ns) times.push_back(*r.control_ns);
  return times.empty() ? Number::missing("no process measured the control") : Number(stats::median(times));
}

std::string outcome_of(const result::CaseResult& c) {
  return result::is_cut_short(c) ? kCutShort : std::string(result::name_of(c.outcome));
}

CaseEntry case_entry_of(const result::CaseResult& c, const std::string& started_utc) {
  CaseEntry one{identity_key(c.benchmark),
                c.case_id,
                c.label,
                c.benchmark.model,
                c.benchmark.engine,
                outcome_of(c),
                c.grade == result::Grade::kNone ? "" : std::string(1, result::grade_letter(c.grade)),
                {}};
  if (c.outcome != result::Outcome::kOk || !c.noise.instrument.empty()) return one;
  for (const auto& metric : result::metrics())
    if (const auto found = metric.get(c); found.value)
      one.figures.push_back({std::string(metric.name), *found.value, found.ci_low, found.ci_high});
  constexpr double kToGflops = 1e-9;
  add_control(one, kControlPeak, peak_of_run(c.flops, started_utc), kToGflops);
  constexpr double kToMs = 1e-6;
  add_control(one, kControlWork, control_of_run(c), kToMs);
  return one;
}

}  // namespace

std::string identity_key(const result::Benchmark& benchmark) {
  auto json = archive::Writer::write(result::identity_of(benchmark));
  if (benchmark.schedule.empty()) json.erase("schedule");  // keys of runs without one stay
  for (const char* derived : {"id", "gpus_reason", "instances_reason"}) json.erase(derived);
  return short_digest(json.dump(-1, ' ', false, Json::error_handler_t::replace));
}

RunEntry entry_of(const result::StoredRun& stored) {
  const auto& run = stored.run;
  const auto hardware = hardware_of(run.environment);
  RunEntry entry{
      run.run_id,
      std::filesystem::absolute(stored.folder).lexically_normal().string(),
      run.experiment_name,
      run.started_utc,
      hardware.is_null() ? "" : short_digest(hardware.dump(-1, ' ', false, Json::error_handler_t::replace)),
      hardware_words(run.environment),
      system_of(run.environment),
      run.suite.version,
      run.suite.git_sha,
      commit_of_run(run.environment),
      run.outcome,
      notes_of_run(run.environment),
      {}};
  for (const auto& one : run.cases) entry.cases.push_back(case_entry_of(one, run.started_utc));
  return entry;
}

const Figure* headline_figure(const CaseEntry& one) {
  for (const auto name : kHeadlines) {
    const auto found = std::ranges::find(one.figures, name, &Figure::metric);
    if (found != one.figures.end()) return &*found;
  }
  return nullptr;
}

std::vector<std::string> headline_metrics() {
  return {kHeadlines.begin(), kHeadlines.end()};
}

}  // namespace paceline::history
