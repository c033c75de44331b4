// SPDX-License-Identifier: MIT
#include "compare/environment.h"

#include <algorithm>
#include <array>
#include <string_view>

#include "base/display_text.h"
#include "base/text.h"
#include "host/checks/differences.h"
#include "host/checks/fact_rules.h"
#include "host/checks/machine.h"
#include "host/system_files.h"

namespace paceline::compare {
namespace {

// Facts that a run may have changed on purpose, or that do not change times; a name that ends with a blank is
// how names begin.
constexpr std::array<std::string_view, 8> kHarmless{"variable ", "open files",     "locked memory",
                                                    "processes", "swap",           "huge pages",
                                                    "Nsight ",   "Paceline commit"};

bool is_harmless(const std::string& name) {
  return std::ranges::any_of(kHarmless, [&](std::string_view row) {
    return row.ends_with(' ') ? name.starts_with(row) : name == row;
  });
}

// "580" of "580.159.04".
std::string major_of(const std::string& version) {
  return split(version, '.').front();
}

bool blocks_verdicts(const host::Difference& one) {
  if (one.name == "NVIDIA driver") return major_of(one.found) != major_of(one.expected);
  return !is_harmless(one.name);
}

bool is_known(const host::Fact& fact) {
  return !fact.value.is_null() || fact.reason == host::kNoLimit;
}

// The limits of this process say nothing about a stored run.
host::Machine machine_of(const result::RunResult& run) {
  host::Machine machine;
  if (run.environment.is_object() && !run.environment.empty())
    machine.facts = host::facts_of(run.environment, host::SystemFiles("/nonexistent"));
  const bool without_gpus = !run.environment.contains("nvidia"),
             without_mask = !run.environment.contains(nlohmann::json::json_pointer("/cpu/affinity"));
  std::erase_if(machine.facts, [&](const auto& fact) {
    return !is_known(fact) || (without_gpus && fact.name == "GPUs") ||
           (without_mask && fact.name == "CPUs in the affinity mask");
  });
  if (!run.suite.version.empty()) machine.facts.push_back({"Paceline", run.suite.version, {}});
  return machine;
}

// Older results do not say which were set.
void forget_variables(host::Machine& machine) {
  std::erase_if(machine.facts, [](const auto& fact) { return fact.name.starts_with("variable "); });
}

EnvironmentDifference difference_of(const host::Difference& one, std::size_t side) {
  return {one.name, one.expected, one.found, side, blocks_verdicts(one)};
}

// Two machines of one kind are still two; containers get another name at each start.
void add_host(const result::RunResult& a, const result::RunResult& b, std::size_t side,
              std::vector<EnvironmentDifference>& all) {
  const auto host_of = [](const result::RunResult& run) {
    const nlohmann::json::json_pointer where("/os/host_sha256_16");
    const auto value =
        run.environment.is_object() ? run.environment.value(where, nlohmann::json()) : nlohmann::json();
    return value.is_string() ? on_one_line(value.get<std::string>()) : std::string();
  };
  const auto mine = host_of(a), theirs = host_of(b);
  if (!mine.empty() && !theirs.empty() && mine != theirs)
    all.push_back({"name of the host (its digest)", mine, theirs, side, false});
}

constexpr std::string_view kVersion = "version.";

}  // namespace

std::vector<EnvironmentDifference> environment_differences(const result::RunResult& a,
                                                           const result::RunResult& b, std::size_t side) {
  std::vector<EnvironmentDifference> all;
  auto mine = machine_of(a), theirs = machine_of(b);
  if (!a.environment.contains("variables") || !b.environment.contains("variables"))
    forget_variables(mine), forget_variables(theirs);
  for (const auto& one : host::differences(theirs, mine)) all.push_back(difference_of(one, side));
  add_host(a, b, side, all);
  if (!a.suite.git_sha.empty() && !b.suite.git_sha.empty() && a.suite.git_sha != b.suite.git_sha)
    all.push_back({"Paceline commit", a.suite.git_sha, b.suite.git_sha, side, false});
  std::stable_partition(all.begin(), all.end(), [](const auto& one) { return one.blocks; });
  return all;
}

std::vector<EnvironmentDifference> library_differences(const std::vector<MatchedCase>& cases,
                                                       std::size_t side) {
  std::vector<EnvironmentDifference> all;
  for (const auto& [a, b, differs] : cases) {
    if (a->benchmark.engine != b->benchmark.engine) continue;
    for (const auto& [key, value] : a->effective_settings) {
      if (!key.starts_with(kVersion)) continue;
      const auto there = b->effective_settings.find(key);
      if (there == b->effective_settings.end() || there->second == value) continue;
      EnvironmentDifference one{"library " + key.substr(kVersion.size()), value, there->second, side, true};
      const auto known = std::ranges::find_if(all, [&](const auto& other) {
        return other.name == one.name && other.a == one.a && other.b == one.b;
      });
      if (known == all.end()) all.push_back(std::move(one));
    }
  }
  return all;
}

}  // namespace paceline::compare
