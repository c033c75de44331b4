// SPDX-License-Identifier: MIT
#include "cli/tune/serving.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>

#include "base/device.h"
#include "base/error.h"
#include "base/text.h"
#include "config/option_table.h"
#include "config/vocabulary.h"
#include "host/machine/cpu_choice.h"
#include "onnx/declared_inputs.h"
#include "onnx/few_bits.h"
#include "onnx/model_file.h"
#include "run/artefacts/input_requests.h"
#include "run/artefacts/quantised_files.h"
#include "run/case/case_settings.h"
#include "run/inference/pass_factory.h"

namespace paceline::cli {
namespace {

namespace fs = std::filesystem;
using Lines = std::vector<std::string>;

// An arm as templates see it.
struct Served {
  const pass::PassSpec& pass;  // as its workers get it
  std::string file;            // that its engine reads
  Device device;
  std::string path;  // of the file, as an expression in Python that holds in every folder

  [[nodiscard]] const std::string& precision() const { return pass.settings.precision; }
  // Precisions that were asked for keep engines from rounding to fewer bits.
  [[nodiscard]] bool keeps_floats() const {
    return precision() == "fp32" && !pass.settings.precision_of_file;
  }
  [[nodiscard]] std::string option(const std::string& name, const std::string& fallback) const {
    const auto found = pass.settings.options.find(name);
    return found == pass.settings.options.end() ? fallback : found->second;
  }
};

std::string quoted(const std::string& text) {
  return nlohmann::json(text).dump();
}

std::string python_flag(const std::string& value) {
  return value == "true" ? "True" : "False";
}

std::string shape_text(const Shape& shape) {
  std::string text;
  for (const auto size : shape) text += fmt::format("{}, ", size);
  if (shape.size() > 1) text.resize(text.size() - 2);
  return shape.size() == 1 ? "(" + text.substr(0, text.size() - 1) + ")" : "(" + text + ")";
}

// Options of engines that a program can have: lines, or none where it cannot have the value.
struct OptionRow {
  std::string_view engine, name;
  std::optional<Lines> (*lines)(const std::string& value);
};
using Said = std::optional<Lines>;

std::string_view level_name(const std::string& value) {
  constexpr std::array<std::pair<std::string_view, std::string_view>, 4> kLevels{
      {{"all", "ORT_ENABLE_ALL"},
       {"extended", "ORT_ENABLE_EXTENDED"},
       {"basic", "ORT_ENABLE_BASIC"},
       {"disabled", "ORT_DISABLE_ALL"}}};
  for (const auto& [level, name] : kLevels)
    if (level == value) return name;
  return {};
}

constexpr std::array kOptionRows{
    OptionRow{"onnxruntime", "graph_optimization",
              [](const std::string& value) -> Said {
                const auto level = level_name(value);
                if (level.empty()) return std::nullopt;
                return Lines{
                    fmt::format("options.graph_optimization_level = ort.GraphOptimizationLevel.{}", level)};
              }},
    OptionRow{"onnxruntime", "inter_op_threads",
              [](const std::string& value) -> Said {
                return Lines{fmt::format("options.inter_op_num_threads = {}", value),
                             fmt::format("options.execution_mode = ort.ExecutionMode.{}",
                                         value == "1" ? "ORT_SEQUENTIAL" : "ORT_PARALLEL")};
              }},
    OptionRow{"onnxruntime", "allow_spinning",
              [](const std::string& value) -> Said {
                Lines lines;
                for (const auto* pool : {"intra_op", "inter_op"})
                  lines.push_back(
                      fmt::format("options.add_session_config_entry(\"session.{}.allow_spinning\", \"{}\")",
                                  pool, value == "true" ? 1 : 0));
                return lines;
              }},
    OptionRow{"onnxruntime", "arena",
              [](const std::string& value) -> Said {
                return Lines{"options.enable_cpu_mem_arena = " + python_flag(value)};
              }},
    OptionRow{"onnxruntime", "provider",
              [](const std::string& value) { return value == "tensorrt" ? Said() : Said(Lines()); }},
    OptionRow{"onnxruntime", "allow_cpu_fallback", [](const std::string&) { return Said(Lines()); }},
    OptionRow{"onnxruntime", "device", [](const std::string&) { return Said(Lines()); }},
    OptionRow{"openvino", "num_streams",
              [](const std::string& value) { return Said({"settings[\"NUM_STREAMS\"] = " + value}); }},
    OptionRow{"openvino", "cpu_pinning",
              [](const std::string& value) {
                return Said({"settings[\"ENABLE_CPU_PINNING\"] = " + python_flag(value)});
              }},
};

Said lines_of_option(const Served& arm, const std::string& name, const std::string& value) {
  const auto* row = std::ranges::find_if(
      kOptionRows, [&](const OptionRow& one) { return one.engine == arm.pass.engine() && one.name == name; });
  return row == kOptionRows.end() ? std::nullopt : row->lines(value);
}

void add_options(const Served& arm, Lines& lines) {
  for (const auto& [name, value] : arm.pass.settings.options)
    if (const auto more = lines_of_option(arm, name, value))
      lines.insert(lines.end(), more->begin(), more->end());
}

Lines onnxruntime_lines(const Served& arm) {
  Lines lines{"options = ort.SessionOptions()",
              fmt::format("options.intra_op_num_threads = {}", arm.pass.settings.threads)};
  add_options(arm, lines);
  for (const auto& [symbol, size] : onnx::symbol_sizes(arm.file, arm.pass.model.inputs))
    lines.push_back(fmt::format("options.add_free_dimension_override_by_name({}, {})", quoted(symbol), size));
  const auto entry = [&](std::string_view key, std::string_view value) {
    lines.push_back(fmt::format("options.add_session_config_entry(\"{}\", \"{}\")", key, value));
  };
  if (arm.keeps_floats()) entry("session.qdq_matmulnbits_accuracy_level", std::to_string(onnx::kFloatLevel));
  std::string provider = "\"CPUExecutionProvider\"";
  if (arm.device.kind != DeviceKind::kCpu) {
    entry("session.disable_cpu_ep_fallback", arm.option("allow_cpu_fallback", "false") == "true" ? "0" : "1");
    provider = fmt::format("(\"CUDAExecutionProvider\", {{\"device_id\": {}, \"use_tf32\": {}}})",
                           arm.device.index, arm.precision() == "tf32" ? 1 : 0);
  }
  lines.push_back(
      fmt::format("session = ort.InferenceSession({}, options, providers=[{}])", arm.path, provider));
  lines.emplace_back("outputs = session.run(None, inputs)");
  return lines;
}

// OpenVINO's name of the type of everything that the file does not quantise.
std::string_view openvino_type(const std::string& precision) {
  if (precision == "bf16") return "bf16";
  return precision == "fp16" ? "f16" : "f32";
}

Lines openvino_lines(const Served& arm) {
  Lines lines{"core = ov.Core()",
              fmt::format("model = core.read_model({})", arm.path),
              "model.reshape({name: value.shape for name, value in inputs.items()})",
              "settings = {\"PERFORMANCE_HINT\": \"LATENCY\", \"NUM_STREAMS\": 1}",
              fmt::format("settings[\"INFERENCE_NUM_THREADS\"] = {}", arm.pass.settings.threads),
              fmt::format("settings[\"INFERENCE_PRECISION_HINT\"] = \"{}\"", openvino_type(arm.precision()))};
  if (arm.keeps_floats()) {
    lines.emplace_back("settings[\"DYNAMIC_QUANTIZATION_GROUP_SIZE\"] = 0");
    lines.emplace_back("settings[\"KV_CACHE_PRECISION\"] = \"f32\"");
  }
  add_options(arm, lines);
  lines.emplace_back("compiled = core.compile_model(model, \"CPU\", settings)");
  lines.emplace_back("outputs = compiled(inputs)");
  return lines;
}

// Eager runs the file as it is, the engine torchscript rewrites it.
Lines torch_lines(const Served& arm) {
  const bool smaller = arm.precision() == "bf16" || arm.precision() == "fp16";
  const std::string type = arm.precision() == "bf16" ? "torch.bfloat16" : "torch.float16";
  const bool channels_last = arm.pass.settings.layout == "channels_last";
  Lines lines{fmt::format("torch.set_num_threads({})", arm.pass.settings.threads),
              "torch.set_num_interop_threads(1)", "torch.set_grad_enabled(False)",
              fmt::format("model = torch.jit.load({}, map_location=\"cpu\").eval()", arm.path),
              "tensors = [torch.from_numpy(value) for value in inputs.values()]"};
  if (smaller) {
    lines.push_back(fmt::format("model = model.to({})", type));
    lines.push_back(
        fmt::format("tensors = [t.to({}) if t.is_floating_point() else t for t in tensors]", type));
  }
  if (channels_last) {
    lines.emplace_back("model = model.to(memory_format=torch.channels_last)");
    lines.emplace_back(
        "tensors = [t.to(memory_format=torch.channels_last) if t.dim() == 4 else t for t in tensors]");
  }
  if (arm.pass.engine() == "torchscript") {
    lines.emplace_back("if hasattr(model, \"training\"):  # else it is frozen");
    lines.emplace_back("    model = torch.jit.freeze(model)");
    lines.emplace_back("model = torch.jit.optimize_for_inference(model)");
  }
  lines.emplace_back("with torch.inference_mode():");
  lines.emplace_back("    outputs = model(*tensors)");
  return lines;
}

struct ServingRow {
  std::string_view engine, ending, import;
  Lines (*lines)(const Served&);
};
constexpr std::array kServingRows{
    ServingRow{"onnxruntime", ".onnx", "import onnxruntime as ort", onnxruntime_lines},
    ServingRow{"openvino", ".onnx", "import openvino as ov", openvino_lines},
    ServingRow{"openvino", ".xml", "import openvino as ov", openvino_lines},
    ServingRow{"eager", ".pt", "import torch", torch_lines},
    ServingRow{"torchscript", ".pt", "import torch", torch_lines}};

const ServingRow* serving_row(const std::string& engine, std::string_view file) {
  const auto* row = std::ranges::find_if(kServingRows, [&](const ServingRow& one) {
    return one.engine == engine && file.ends_with(one.ending);
  });
  return row == kServingRows.end() ? nullptr : row;
}

// Values like those that were measured: normal floats, integers in their range, else ones.
std::string values_of(const TensorSpec& input, const pass::ValueRange& range) {
  const auto shape = shape_text(input.shape), type = std::string(dtype_name(input.dtype));
  const bool is_float = type.starts_with("float");
  if (is_float)
    return range.given
               ? fmt::format("rng.uniform({:g}, {:g}, {}).astype(\"{}\")", range.from, range.to, shape, type)
               : fmt::format("np.asarray(rng.standard_normal({}), \"{}\")", shape, type);
  if (range.given)
    return fmt::format("np.asarray(rng.integers({:.0f}, {:.0f}, {}, endpoint=True), \"{}\")", range.from,
                       range.to, shape, type);
  return fmt::format("np.ones({}, \"{}\")", shape, type);
}

Lines lines_of_inputs(const config::Case& arm, const pass::PassSpec& pass) {
  const auto ranges = run::value_ranges(arm.settings, pass, run::Beside::kNothing);
  Lines lines{"", "rng = np.random.default_rng(1)", "inputs = {  # replace these values with your own"};
  for (std::size_t i = 0; i < pass.model.inputs.size(); ++i) {
    const auto& input = pass.model.inputs[i];
    lines.push_back(fmt::format("    {}: {},", quoted(input.name),
                                values_of(input, i < ranges.size() ? ranges[i] : pass::ValueRange())));
  }
  lines.emplace_back("}");
  return lines;
}

bool is_torch(const Served& arm) {
  return arm.pass.engine() == "eager" || arm.pass.engine() == "torchscript";
}

// ONNX Runtime gets such a file from memory, with other levels.
bool has_levels_to_change(const Served& arm) {
  if (arm.pass.engine() != "onnxruntime" || !arm.keeps_floats()) return false;
  auto model = onnx::read_without_data(arm.file);
  return onnx::set_float_levels(model);
}

// Settings that change what runs and that no line of the templates has.
Lines without_lines(const config::Case& arm, const Served& served) {
  const auto& pass = served.pass;
  Lines names;
  for (const auto& [name, value] : arm.env) names.push_back("env." + name);
  const std::array<std::pair<bool, const char*>, 9> rows{
      {{pass.inference.load.instances > 1, "instances"},
       {pass.inference.load.concurrency > 1, "concurrency"},
       {pass.inference.load.max_batch > 1, "server.max_batch"},
       {arm.settings.has("pin") && arm.settings.flag("pin"), "pin"},
       {!pass.inference.feedback.empty(), "feedback"},
       {!pass.load_libraries.empty(), "load_libraries"},
       {is_torch(served) && served.device.kind != DeviceKind::kCpu, "device"},
       {is_torch(served) && pass.settings.precision.starts_with("amp_"), "precision"},
       {has_levels_to_change(served), "precision fp32 with weights of few bits"}}};
  for (const auto& [is_set, name] : rows)
    if (is_set) names.emplace_back(name);
  for (const auto& [name, value] : pass.settings.options)
    if (!lines_of_option(served, name, value)) names.push_back(pass.engine() + "." + name);
  for (const auto& input : pass.model.inputs)
    if (input.dtype == DType::kBFloat16) names.push_back("input " + input.name + " in bfloat16");
  return names;
}

fs::path kept_file(const fs::path& folder, const config::Case& arm) {
  return folder / "models" / (arm.id + ".onnx");
}

// The file that the arm's engine reads; empty: it was made for the run, and is not kept.
std::string served_file(const fs::path& folder, const config::Case& arm) {
  std::error_code missing;
  if (const auto kept = kept_file(folder, arm); fs::exists(kept, missing)) return kept.string();
  const auto& model = arm.settings.text("model");
  const bool made = config::find_model(model) || run::needs_quantising(arm.settings, model);
  return made ? std::string() : model;
}

bool is_kept(const fs::path& folder, const config::Case& arm, const std::string& file) {
  return file == kept_file(folder, arm).string();
}

// A kept file moves with the run's folder, the user's own stays where it is.
std::string python_path(const fs::path& folder, const config::Case& arm, const std::string& file) {
  if (!is_kept(folder, arm, file)) return quoted(fs::absolute(file).lexically_normal().string());
  return fmt::format("str(pathlib.Path(__file__).resolve().parent / {})",
                     quoted("models/" + fs::path(file).filename().string()));
}

void link_or_copy(const fs::path& from, const fs::path& to) {
  std::error_code error;
  if (fs::equivalent(from, to, error)) return;
  fs::remove(to, error);
  fs::create_hard_link(from, to, error);
  if (error) fs::copy_file(from, to, fs::copy_options::overwrite_existing, error);
}

}  // namespace

void keep_model_file(const fs::path& folder, const config::Case& arm, const fs::path& made) {
  if (!serving_row(arm.settings.text("engine"), made.string())) return;
  const auto kept = kept_file(folder, arm);
  std::error_code error;
  fs::create_directories(kept.parent_path(), error);
  const fs::path data = made.string() + ".data";  // the file names it
  if (fs::exists(data, error)) link_or_copy(data, kept.parent_path() / data.filename());
  link_or_copy(made, kept);
}

ServingProgram program_of_arm(const fs::path& folder, const config::Case& arm) {
  const auto file = served_file(folder, arm);
  if (file.empty()) return {{}, "the file that was measured is not kept: its first round was not finished"};
  const auto pass = run::base_pass(arm, static_cast<int>(host::allowed_cpus().size()));
  const auto* row = serving_row(pass.engine(), file);
  if (!row)
    return {{}, fmt::format("there is none for {} with {}", pass.engine(), arm.settings.text("model"))};
  const Served served{pass, file, run::device_of(arm.settings), python_path(folder, arm, file)};
  if (const auto names = without_lines(arm, served); !names.empty())
    return {{}, "it cannot have " + join(names, ", ")};
  ServingProgram program;
  if (is_kept(folder, arm, file)) program.lines = {"import pathlib", ""};
  for (const auto import : {std::string_view("import numpy as np"), row->import})
    program.lines.emplace_back(import);
  for (auto& line : lines_of_inputs(arm, pass)) program.lines.push_back(std::move(line));
  program.lines.emplace_back();
  for (auto& line : row->lines(served)) program.lines.push_back(std::move(line));
  return program;
}

}  // namespace paceline::cli
