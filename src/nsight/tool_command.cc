// SPDX-License-Identifier: MIT
#include "nsight/tool_command.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/error.h"

namespace paceline::nsight {
namespace {

constexpr std::array<std::string_view, 3> kSystemsFlags{"--capture-range", "--capture-range-end",
                                                        "--cuda-graph-trace"};
constexpr std::array<std::string_view, 4> kComputeFlags{"--profile-from-start", "--launch-count",
                                                        "--kernel-name", "--set"};
constexpr std::array kTools{
    ToolTraits{Tool::kSystems, "nsys", "Nsight Systems", "timeline.nsys-rep", "timeline.sqlite",
               kSystemsFlags},
    ToolTraits{Tool::kCompute, "ncu", "Nsight Compute", "kernels.ncu-rep", "kernels.csv", kComputeFlags}};

std::string report_of(const ToolRequest& request) {
  return (request.folder / traits_of(request.tool).report).string();
}

// Threads of the host are not sampled: they would be slower, and the timeline has the calls for CUDA anyway.
std::vector<std::string> systems(const ToolRequest& request) {
  std::vector<std::string> argv{request.program.string(),
                                "profile",
                                "--trace=cuda,nvtx,cudnn,cublas",
                                "--sample=none",
                                "--cpuctxsw=none",
                                "--cuda-graph-trace=node",
                                "--force-overwrite=true",
                                "--output=" + report_of(request)};
  if (request.waits) argv.insert(argv.end(), {"--capture-range=cudaProfilerApi", "--capture-range-end=stop"});
  return argv;
}

std::vector<std::string> compute(const ToolRequest& request) {
  std::vector<std::string> argv{request.program.string(),
                                "--target-processes",
                                "application-only",
                                "--profile-from-start",
                                request.waits ? "off" : "on",
                                "--launch-count",
                                fmt::format("{}", request.kernels.most)};
  if (!request.kernels.name.empty())
    argv.insert(argv.end(), {"--kernel-name", "regex:" + request.kernels.name});
  if (request.kernels.sections.empty()) argv.insert(argv.end(), {"--set", "full"});
  for (const auto& section : request.kernels.sections) argv.insert(argv.end(), {"--section", section});
  argv.insert(argv.end(), {"--force-overwrite", "--export", report_of(request)});
  return argv;
}

}  // namespace

const ToolTraits& traits_of(Tool tool) {
  return kTools.at(static_cast<std::size_t>(tool));
}

Tool tool_named(std::string_view program) {
  const auto* const found = std::ranges::find(kTools, program, &ToolTraits::program);
  if (found == kTools.end())
    throw Error(ErrorCode::kInternal, fmt::format("'{}' is no profiler of NVIDIA", program));
  return found->tool;
}

std::vector<std::string> in_front(const ToolRequest& request) {
  return request.tool == Tool::kSystems ? systems(request) : compute(request);
}

std::vector<std::string> exporting(const ToolRequest& request) {
  const auto program = request.program.string(), report = report_of(request);
  if (request.tool == Tool::kCompute)
    return {program, "--import", report, "--csv", "--page", "raw", "--print-units", "base"};
  const auto table = (request.folder / traits_of(request.tool).table).string();
  return {program, "export", "--type", "sqlite", "--force-overwrite", "true", "--output", table, report};
}

std::vector<std::string> unknown_flags(Tool tool, std::string_view help) {
  std::vector<std::string> unknown;
  for (const auto flag : traits_of(tool).flags)
    if (help.find(flag) == std::string_view::npos) unknown.emplace_back(flag);
  return unknown;
}

}  // namespace paceline::nsight
