// SPDX-License-Identifier: MIT
#include "cli/tune/serving.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>

#include "analysis/case_query.h"
#include "base/device.h"
#include "config/option_table.h"
#include "config/vocabulary.h"
#include "host/machine/cpu_choice.h"
#include "result/figures/pair_ratio.h"

namespace paceline::cli {
namespace {

// Settings of one arm as templates see them.
struct Served {
  std::string file;  // quoted
  std::int64_t threads;
  bool on_gpu;
  std::string_view type;  // of what the file does not quantise, as OpenVINO names it
};

std::vector<std::string> onnxruntime_lines(const Served& arm) {
  return {"import onnxruntime as ort", "options = ort.SessionOptions()",
          fmt::format("options.intra_op_num_threads = {}", arm.threads),
          fmt::format("session = ort.InferenceSession({}, options, providers=[\"{}ExecutionProvider\"])",
                      arm.file, arm.on_gpu ? "CUDA" : "CPU"),
          "outputs = session.run(None, inputs)"};
}

std::vector<std::string> openvino_lines(const Served& arm) {
  return {"import openvino as ov",
          fmt::format("settings = {{\"INFERENCE_NUM_THREADS\": {}, \"NUM_STREAMS\": 1}}", arm.threads),
          "settings[\"PERFORMANCE_HINT\"] = \"LATENCY\"",
          fmt::format("settings[\"INFERENCE_PRECISION_HINT\"] = \"{}\"", arm.type),
          fmt::format("model = ov.Core().compile_model({}, \"CPU\", settings)", arm.file),
          "outputs = model(inputs)"};
}

std::vector<std::string> torchscript_lines(const Served& arm) {
  return {"import torch", fmt::format("torch.set_num_threads({})", arm.threads),
          "torch.set_grad_enabled(False)",
          fmt::format("model = torch.jit.load({}, map_location=\"{}\").eval()", arm.file,
                      arm.on_gpu ? "cuda" : "cpu"),
          "outputs = model(*inputs)"};
}

struct ServingRow {
  std::string_view engine, ending;
  std::vector<std::string> (*lines)(const Served&);
};
constexpr std::array kServingRows{
    ServingRow{"onnxruntime", ".onnx", onnxruntime_lines}, ServingRow{"openvino", ".onnx", openvino_lines},
    ServingRow{"openvino", ".xml", openvino_lines}, ServingRow{"eager", ".pt", torchscript_lines}};

bool is_made_smaller(const config::Case& arm) {
  return arm.settings.text("precision") == "int8" && arm.settings.text("model").ends_with(".onnx");
}

std::string served_file(const config::Case& arm) {
  std::filesystem::path file = arm.settings.text("model");
  if (is_made_smaller(arm)) file.replace_extension(".int8.onnx");
  return file.string();
}

std::int64_t threads_of(const config::Case& arm) {
  const auto asked = arm.settings.has("threads") ? arm.settings.integer("threads") : 0;
  return asked > 0 ? asked : static_cast<std::int64_t>(host::allowed_cpus().size());
}

}  // namespace

std::string plan_of_arm(const config::Plan& all, const config::Case& arm) {
  auto plan = all;
  plan.workloads = {all.workloads.at(arm.workload)};
  auto& settings = plan.workloads.front().settings;
  for (const auto& [name, values] : arm.settings.all())
    if (const auto* option = config::find_option(name, config::kInference);
        option && option->form == config::OptionForm::kAxis)
      settings.set_list(option->name, values);
  settings.set("repetitions", result::kPairsForClaim);
  return config::effective_yaml(plan);
}

std::vector<std::string> python_of_arm(const config::Case& arm) {
  const auto& model = arm.settings.text("model");
  const auto& engine = arm.settings.text("engine");
  const auto* row = std::ranges::find_if(kServingRows, [&](const ServingRow& one) {
    return one.engine == engine && model.ends_with(one.ending);
  });
  if (row == kServingRows.end()) return {};
  const bool on_gpu = arm.settings.has("device") && is_cuda(arm.settings.text("device"));
  return row->lines({nlohmann::json(served_file(arm)).dump(), threads_of(arm), on_gpu,
                     arm.settings.text("precision") == "bf16" ? "bf16" : "f32"});
}

std::string export_command(const config::Case& arm) {
  if (!is_made_smaller(arm)) return {};
  return fmt::format("paceline export --model {} --precision int8 --output {}",
                     analysis::shell_word(arm.settings.text("model")),
                     analysis::shell_word(served_file(arm)));
}

}  // namespace paceline::cli
