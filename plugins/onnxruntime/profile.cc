// SPDX-License-Identifier: MIT
#include "onnxruntime/profile.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <map>

#include "base/bounded_json.h"
#include "base/display_text.h"
#include "base/error.h"
#include "base/file.h"
#include "base/json.h"
#include "onnxruntime/few_bits.h"

namespace paceline::ort_plugin {
namespace {
namespace fs = std::filesystem;
using nlohmann::json;

class TemporaryFolder {
 public:
  TemporaryFolder() {
    auto pattern = (temp_dir() / "paceline_profile_XXXXXX").string();
    if (!::mkdtemp(pattern.data()))
      throw Error(ErrorCode::kIo, fmt::format("cannot make a folder like '{}'; check $TMPDIR", pattern));
    path_ = pattern;
  }
  ~TemporaryFolder() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  [[nodiscard]] fs::path file(const char* name) const { return path_ / name; }

 private:
  fs::path path_;
};

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

bool is_kernel(const json& event) {
  return event.value("cat", "") == "Node" && event.value("name", "").ends_with(kKernelTime);
}

}  // namespace

std::vector<ProfiledRun> runs_of_profile(const std::string& text) try {
  std::vector<ProfiledRun> runs;
  ProfiledRun nodes;
  for (const auto& event : parsed_json(text)) {
    if (is_kernel(event)) nodes.push_back(node_of(event));
    if (is_run(event)) runs.push_back(std::exchange(nodes, {}));  // a run's event follows its nodes'
  }
  return runs;
} catch (const json::exception& e) {
  throw Error(ErrorCode::kData, fmt::format("ONNX Runtime's profile cannot be read: {}", plain_reason(e)));
}

std::vector<ProfiledRun> profile_session(Ort::Env& env, const std::string& file, Ort::SessionOptions options,
                                         int times, const std::function<void(Ort::Session&)>& run) {
  const TemporaryFolder folder;
  options.EnableProfiling(folder.file("profile").c_str());
  auto session = open_session(env, file, std::move(options));
  for (int i = 0; i <= times; ++i) run(session);  // the first run allocates
  Ort::AllocatorWithDefaultOptions allocator;
  auto runs = runs_of_profile(read_file(session.EndProfilingAllocated(allocator).get()));
  if (runs.size() > 1) runs.erase(runs.begin());
  return runs;
}

}  // namespace paceline::ort_plugin
