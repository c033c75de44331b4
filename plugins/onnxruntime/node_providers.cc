// SPDX-License-Identifier: MIT
#include "onnxruntime/node_providers.h"

#include <fmt/format.h>

#include <map>
#include <set>

#include "base/error.h"
#include "base/text.h"

namespace paceline::ort_plugin {
namespace {

// "CUDA" of CUDAExecutionProvider
std::string short_name(std::string_view provider) {
  constexpr std::string_view kSuffix = "ExecutionProvider";
  if (provider == kCpuProvider) return "the CPU";
  if (provider.ends_with(kSuffix)) provider.remove_suffix(kSuffix.size());
  return std::string(provider);
}

struct Others {
  std::size_t count = 0;
  std::set<std::string> types;
};

}  // namespace

std::string nodes_elsewhere(std::string_view provider, bool may_run_elsewhere,
                            std::span<const ProfiledNode> nodes) {
  std::map<std::string, Others> others;
  std::size_t own = 0;
  for (const auto& node : nodes)
    if (node.provider == provider)
      ++own;
    else
      ++others[node.provider].count, others[node.provider].types.insert(node.op);
  std::vector<std::string> parts;
  for (const auto& [name, one] : others)
    parts.push_back(fmt::format("{} of {} nodes ran on {}: {}", one.count, nodes.size(), short_name(name),
                                join(std::vector(one.types.begin(), one.types.end()), ", ")));
  auto text = join(parts, "; ");
  if (own == 0 && !nodes.empty() && !may_run_elsewhere)
    throw Error(ErrorCode::kUnsupported,
                fmt::format("{} ran no node of the model ({}); use another --onnxruntime.provider, or "
                            "--onnxruntime.allow_cpu_fallback true to measure it as it ran",
                            provider, text));
  return text;
}

}  // namespace paceline::ort_plugin
