// SPDX-License-Identifier: MIT
#include "onnxruntime/node_layers.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>
#include <vector>

#include "base/host_times.h"
#include "onnxruntime/node_providers.h"
#include "support/device_layers.h"
#include "support/layer_medians.h"

namespace paceline::ort_plugin {
namespace {

constexpr const char* kProfiler = "ONNX Runtime's profiler, in a separate session: ";

bool is_on_cpu(const ProfiledNode& node) {
  return node.provider == kCpuProvider;
}

bool has_kernels(const ProfiledRun& run) {
  return !run.alone.empty() ||
         std::any_of(run.nodes.begin(), run.nodes.end(), [](const auto& node) { return node.device_ns; });
}

// Rows of kernels without a node, numbered by name.
class KernelRows {
 public:
  plugin::Layer row(const ProfiledKernel& kernel) {
    const auto count = ++counts_[kernel.name];
    const auto name = count == 1 ? kernel.name : fmt::format("{} ({})", kernel.name, count);
    return {name, std::string(plugin_support::kind_of_work(kernel.name)), "", kernel.time_ns, {}};
  }

 private:
  std::map<std::string, int> counts_;
};

std::vector<plugin::Layer> rows_of(const ProfiledRun& run,
                                   const std::function<plugin::Layer(const ProfiledNode&)>& layer_of) {
  std::vector<plugin::Layer> rows;
  KernelRows kernels;
  auto alone = run.alone.begin();
  for (std::size_t i = 0; i <= run.nodes.size(); ++i) {
    for (; alone != run.alone.end() && alone->at <= i; ++alone) rows.push_back(kernels.row(*alone));
    if (i == run.nodes.size()) break;
    const auto& node = run.nodes[i];
    rows.push_back(layer_of(node));
    rows.back().time_ns = is_on_cpu(node) && !node.device_ns ? node.time_ns : node.device_ns;
  }
  return rows;
}

std::string cpu_text(const ProfiledRun& run) {
  const auto count = std::count_if(run.nodes.begin(), run.nodes.end(), is_on_cpu);
  return count == 0
             ? std::string()
             : fmt::format("; {} of {} nodes ran on the CPU and have its times", count, run.nodes.size());
}

}  // namespace

plugin::LayerTimes layers_on_device(std::span<const ProfiledRun> runs,
                                    const std::function<plugin::Layer(const ProfiledNode&)>& layer_of) {
  if (runs.empty()) return {};
  const bool on_device = std::any_of(runs.begin(), runs.end(), has_kernels);
  std::vector<std::vector<plugin::Layer>> rows;
  for (const auto& run : runs) {
    rows.push_back(rows_of(run, layer_of));
    for (std::size_t i = 0; i < run.nodes.size() && !on_device; ++i)
      rows.back()[i].time_ns = run.nodes[i].time_ns;
  }
  plugin_support::refuse_other_layers(rows);
  const auto words =
      on_device ? "kernels and copies on the device, in whole microseconds" + cpu_text(runs.back())
                : fmt::format("it lists no kernels (a library built without CUPTI), so that {}", kHostTimes);
  return {plugin_support::with_median_times(std::move(rows)), kProfiler + words};
}

}  // namespace paceline::ort_plugin
