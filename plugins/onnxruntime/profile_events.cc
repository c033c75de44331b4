// SPDX-License-Identifier: MIT
#include "onnxruntime/profile_events.h"

#include <fmt/format.h>

#include <iterator>
#include <map>
#include <string_view>
#include <utility>

#include "base/bounded_json.h"
#include "base/display_text.h"
#include "base/error.h"
#include "base/json.h"

namespace paceline::ort_plugin {
namespace {

using nlohmann::json;

// Parses [{"float": [2, 16]}, {"int64": []}].
std::vector<ProfiledTensor> tensors_of(const json& list) {
  std::vector<ProfiledTensor> tensors;
  for (const auto& entry : list)
    for (const auto& [type, shape] : entry.items()) tensors.push_back({type, shape.get<Shape>()});
  return tensors;
}

// "conv1_kernel_time" belongs to the node conv1; its other events are fences.
constexpr std::string_view kKernelTime = "_kernel_time";

ProfiledNode node_of(const json& event) {
  const auto& arguments = event.at("args");
  ProfiledNode node;
  node.name = event.at("name").get<std::string>();
  node.name.resize(node.name.size() - kKernelTime.size());
  node.op = arguments.at("op_name").get<std::string>();
  node.provider = arguments.value("provider", "");
  node.inputs = tensors_of(arguments.at("input_type_shape"));
  node.outputs = tensors_of(arguments.at("output_type_shape"));
  node.time_ns = event.at("dur").get<double>() * 1e3;
  return node;
}

bool is_run(const json& event) {
  return event.value("cat", "") == "Session" && event.value("name", "") == "model_run";
}

bool is_node(const json& event) {
  return event.value("cat", "") == "Node" && event.value("name", "").ends_with(kKernelTime);
}

bool is_kernel(const json& event) {
  return event.value("cat", "") == "Kernel";
}

// Runs by their start. Older releases list a run behind its nodes, newer ones everything by its start.
using RunsByStart = std::map<double, ProfiledRun>;

RunsByStart started_runs(const json& events) {
  RunsByStart runs;
  for (const auto& event : events)
    if (is_run(event)) runs[event.at("ts").get<double>()];
  return runs;
}

// The run during which an event began; null: it belongs to none, as to the preparation of the session.
ProfiledRun* run_of(RunsByStart& runs, const json& event) {
  const auto after = runs.upper_bound(event.at("ts").get<double>());
  return after == runs.begin() ? nullptr : &std::prev(after)->second;
}

// Kernels follow the event that started them, and repeat its operator, which only nodes have.
void add_kernel(const json& event, ProfiledNode* starter, ProfiledRun& run) {
  const double ns = event.at("dur").get<double>() * 1e3;
  const auto op = event.contains("args") ? event["args"].value("op_name", "") : std::string();
  if (starter && starter->op == op)
    starter->device_ns = starter->device_ns.value_or(0) + ns;
  else
    run.alone.push_back({event.at("name").get<std::string>(), ns, run.nodes.size()});
}

}  // namespace

std::vector<ProfiledRun> runs_of_profile(const std::string& text) try {
  const auto events = parsed_json(text);
  auto by_start = started_runs(events);
  ProfiledNode* starter = nullptr;  // of kernels that follow
  for (const auto& event : events) {
    auto* run = run_of(by_start, event);
    if (run && is_kernel(event)) {
      add_kernel(event, starter, *run);
      continue;
    }
    starter = run && is_node(event) ? &run->nodes.emplace_back(node_of(event)) : nullptr;
  }
  std::vector<ProfiledRun> runs;
  for (auto& [start, run] : by_start) runs.push_back(std::move(run));
  return runs;
} catch (const json::exception& e) {
  throw Error(ErrorCode::kData, fmt::format("ONNX Runtime's profile cannot be read: {}", plain_reason(e)));
}

}  // namespace paceline::ort_plugin
