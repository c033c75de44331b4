// SPDX-License-Identifier: MIT
// Findings about the environment that a run was started in.
#include <fmt/format.h>

#include <array>
#include <optional>
#include <string_view>

#include "analysis/case_query.h"
#include "analysis/findings.h"
#include "base/text.h"
#include "base/units.h"

namespace paceline::analysis {
namespace {

constexpr std::string_view kUpperBound = "OMP_THREAD_LIMIT";
constexpr std::array<std::string_view, 3> kThreadVariables{"OMP_NUM_THREADS", "MKL_NUM_THREADS", kUpperBound};

// The number in a variable; none where it is unset. Of a list, one number per level, the first.
std::optional<std::int64_t> threads_in(const RunResult& run, std::string_view name) {
  const nlohmann::json::json_pointer place(fmt::format("/variables/{}", name));
  if (!run.environment.is_object() || !run.environment.contains(place)) return std::nullopt;
  const auto& value = run.environment.at(place);
  return value.is_string() ? parse_int(split(value.get<std::string>(), ',').front()) : std::nullopt;
}

bool chose_threads(const CaseResult& one) {
  const auto& config = one.config_effective;
  return config.contains("threads_per_instance") || config.value("threads", std::int64_t{0}) > 0;
}

// Cases that ran with another number of threads than the variable has.
Cases others(const RunResult& run, std::string_view name, std::int64_t threads) {
  Cases found;
  for (const CaseResult& one : run.cases) {
    if (!is_ok(one) || !traits_of(one.benchmark.kind).runs_engine || chose_threads(one)) continue;
    const auto ran = one.benchmark.threads;
    if (name == kUpperBound ? ran > threads : ran != threads) found.push_back(&one);
  }
  return found;
}

}  // namespace

// Users of the libraries expect these variables to count, and `threads` decides.
Findings find_thread_variables(const RunResult& run) {
  Findings found;
  for (const auto name : kThreadVariables) {
    if (!found.empty() && name != kUpperBound) continue;  // who sets one sets both
    const auto threads = threads_in(run, name);
    const auto cases = threads ? others(run, name, *threads) : Cases{};
    if (cases.empty()) continue;
    found.push_back(
        finding_about(cases,
                      fmt::format("{}={} was not used: {} ran with {}.", name, *threads, list_labels(cases),
                                  plural(cases.front()->benchmark.threads, "thread")),
                      "the number of threads is an option, so that every engine has the same",
                      fmt::format("--threads {} sets it.", *threads)));
  }
  return found;
}

}  // namespace paceline::analysis
