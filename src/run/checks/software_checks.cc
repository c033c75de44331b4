// SPDX-License-Identifier: MIT
// Checks NVIDIA's software: driver, libraries, profilers.
#include <fmt/format.h>

#include <cstdlib>

#include "base/file.h"
#include "base/scratch_folder.h"
#include "base/text.h"
#include "host/checks/cuda_software.h"
#include "host/machine/accelerators.h"
#include "nsight/tool_command.h"
#include "process/tool_process.h"
#include "run/checks/machine_checks.h"

namespace paceline::run {
namespace {

using answer::Verdict;
using host::CheckResult;
using Facts = std::vector<host::Fact>;

constexpr double kVersionTimeoutS = 10;

CheckResult check_cuda(const Facts& facts) {
  if (auto absent = host::no_nvidia_device_reason(host::SystemFiles()); !absent.empty())
    return {Verdict::kNotAsked, std::move(absent), {}};
  return host::check_cuda_software(host::read_nvidia_driver(), facts);
}

// "2025.2.1.0" of "Version 2025.2.1.0 (build 35987062)"; empty: there is none.
std::string version_in(const std::string& text) {
  constexpr std::string_view kWord = "ersion ";
  const auto word = text.rfind(kWord);
  if (word == std::string::npos) return {};
  const auto first = word + kWord.size();
  return text.substr(first, text.find_first_not_of("0123456789.", first) - first);
}

struct Profiler {
  std::string version, problem;  // both empty: it is not there
};

Profiler ask_profiler(const std::string& program, const std::atomic<bool>& interrupt) {
  const auto path = find_nsight(program);
  if (path.empty()) return {};
  const auto scratch = ScratchFolder::below_temp("version");
  const auto log = scratch.path() / "log";
  const auto end = process::run_tool(
      {{path.string(), "--version"}, {{"LC_ALL", "C"}}, log, {}, kVersionTimeoutS}, interrupt);
  const auto version = end.empty() ? version_in(read_file(log)) : "";
  if (!version.empty()) return {version, {}};
  return {{}, fmt::format("{} --version: {}", program, end.empty() ? "no version in what it printed" : end)};
}

CheckResult check_profilers(Facts& facts, const std::atomic<bool>& interrupt) {
  std::vector<std::string> found, problems;
  for (const auto tool : {nsight::Tool::kSystems, nsight::Tool::kCompute}) {
    const auto& traits = nsight::traits_of(tool);
    const std::string name(traits.name), program(traits.program);
    const auto [version, problem] = ask_profiler(program, interrupt);
    if (version.empty())
      facts.push_back({name, {}, problem.empty() ? "not there" : problem});
    else
      facts.push_back({name, version, {}}), found.push_back(name + " " + version);
    if (!problem.empty()) problems.push_back(problem);
  }
  if (!problems.empty())
    return {Verdict::kReservedly, join(problems, "; "), "install Nsight again, or take it off the PATH"};
  if (found.empty()) return {Verdict::kNotAsked, "neither nsys nor ncu here, which profile --tool needs", {}};
  return {Verdict::kYes, join(found, ", "), {}};
}

}  // namespace

std::filesystem::path find_nsight(const std::string& program) {
  if (auto found = process::find_program(program); !found.empty()) return found;
  const char* home = std::getenv("CUDA_HOME");
  for (const std::filesystem::path& folder :
       {std::filesystem::path(home ? home : "") / "bin", std::filesystem::path("/usr/local/cuda/bin")})
    if (folder.is_absolute())
      if (auto found = process::find_program((folder / program).string()); !found.empty()) return found;
  return {};
}

std::vector<host::Check> software_checks(Facts& facts, const std::atomic<bool>& interrupt) {
  return {{"CUDA software",
           {host::Purpose::kInference, host::Purpose::kMultiRankTraining},
           [&facts] { return check_cuda(facts); }},
          {"Nsight", {}, [&facts, &interrupt] { return check_profilers(facts, interrupt); }}};
}

}  // namespace paceline::run
