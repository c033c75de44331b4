// SPDX-License-Identifier: MIT
#include "run/inference/engine_tools.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>

#include "base/bounded_json.h"
#include "base/error.h"
#include "base/file.h"
#include "base/json.h"
#include "base/lower_case.h"
#include "base/model_content.h"
#include "base/text.h"
#include "config/vocabulary.h"
#include "process/tool_process.h"
#include "run/python/python_programs.h"
#include "stats/quantile.h"

namespace paceline::run {
namespace fs = std::filesystem;
using Json = nlohmann::json;
namespace {

Json read_report(const fs::path& file) {
  if (!fs::exists(file))
    throw Error(ErrorCode::kData, fmt::format("it wrote no {}", file.filename().string()));
  auto report = json_or_discarded(read_file(file));
  if (!report.is_object())
    throw Error(ErrorCode::kData, fmt::format("its {} is no JSON object", file.filename().string()));
  return report;
}

std::vector<std::string> nothing_to_ask() {
  return {};
}

// --- OpenVINO's benchmark_app, as the openvino package brings it

constexpr const char* kBenchmarkReport = "benchmark_report.json";
constexpr double kHundredthMs = 1e4, kHundredthUs = 10;  // in ns: it writes two digits

fs::path find_benchmark_app(const fs::path& python) {
  const auto beside =
      python.empty() ? fs::path() : process::find_program(python.parent_path() / "benchmark_app");
  return beside.empty() ? process::find_program("benchmark_app") : beside;
}

constexpr std::array<std::pair<std::string_view, std::string_view>, 4> kInferPrecisions{
    {{"fp32", "f32"}, {"bf16", "bf16"}, {"fp16", "f16"}, {"int8", "f32"}}};

std::string infer_precision(const std::string& precision) {
  const auto row = std::find_if(kInferPrecisions.begin(), kInferPrecisions.end(),
                                [&](const auto& pair) { return pair.first == precision; });
  return std::string(row == kInferPrecisions.end() ? "f32" : row->second);
}

std::string shapes_text(const std::vector<TensorSpec>& inputs) {
  std::vector<std::string> words;
  for (const auto& input : inputs)
    words.push_back(fmt::format("{}[{}]", input.name, fmt::join(input.shape, ",")));
  return join(words, ",");
}

// It would take images as bytes; ours are floats.
std::string float_inputs(const std::vector<TensorSpec>& inputs) {
  std::vector<std::string> words;
  for (const auto& input : inputs)
    if (input.dtype == DType::kFloat32) words.push_back(input.name + ":f32");
  return join(words, ",");
}

// NAME:FILE,…; empty where its syntax cannot say it.
std::string input_files_text(const ToolOrder& order) {
  std::vector<std::string> words;
  for (std::size_t i = 0; i < order.inputs.size(); ++i) {
    const std::string& name = order.inputs[i].name;
    const std::string file = order.input_files.at(i);
    const bool plain = std::all_of(name.begin(), name.end(),
                                   [](char c) { return is_letter_or_digit(c) || c == '_' || c == '.'; });
    if (!plain || file.find_first_of(":,=") != std::string::npos) return {};
    words.push_back(name + ":" + file);
  }
  return join(words, ",");
}

std::vector<std::string> benchmark_app_arguments(const ToolOrder& order) {
  const auto& options = order.settings.options;
  const auto streams = options.find("num_streams"), pinning = options.find("cpu_pinning");
  std::vector<std::string> words{"-m",
                                 order.model_file.string(),
                                 "-d",
                                 "CPU",
                                 "-hint",
                                 "none",
                                 "-api",
                                 "sync",
                                 "-nireq",
                                 "1",
                                 "-nstreams",
                                 streams == options.end() ? "1" : streams->second,
                                 "-nthreads",
                                 fmt::format("{}", order.settings.threads),
                                 "-niter",
                                 fmt::format("{}", order.iterations),
                                 "-infer_precision",
                                 infer_precision(order.settings.precision),
                                 "-report_type",
                                 "no_counters",
                                 "-json_stats",
                                 "-report_folder",
                                 order.folder.string()};
  const auto add = [&](const char* flag, const std::string& value) {
    if (!value.empty()) words.insert(words.end(), {flag, value});
  };
  if (pinning != options.end()) add("-pin", pinning->second == "true" ? "YES" : "NO");
  add("-i", input_files_text(order));
  if (model_suffix(order.model_file.string()) == ".blob") return words;  // shapes and types are in it
  add("-shape", shapes_text(order.inputs));
  add("-iop", float_inputs(order.inputs));
  return words;
}

// Returns the rest of the first line that has `key`, blanks and dots in front dropped.
std::string after(const std::string& output, std::string_view key) {
  const auto at = output.find(key);
  if (at == std::string::npos) return {};
  const auto rest = output.substr(at + key.size(), output.find('\n', at) - at - key.size());
  const auto begin = rest.find_first_not_of(" .\t");
  return begin == std::string::npos ? "" : std::string(trim(rest.substr(begin)));
}

// Its report has hundredths of a millisecond; what it prints for less than one is finer.
ToolFigures read_benchmark_app(const ToolOrder& order, const std::string& output) {
  const auto report = read_report(order.folder / kBenchmarkReport);
  const auto text = report.value(Json::json_pointer("/execution_results/latency (ms)"), Json());
  const auto ms = text.is_string() ? parse_double(text.get<std::string>()) : std::nullopt;
  if (!ms) throw Error(ErrorCode::kData, fmt::format("its {} has no 'latency (ms)'", kBenchmarkReport));
  ToolFigures figures{*ms * 1e6, kHundredthMs / 2, after(output, "Build ")};
  const auto words = split(after(output, "Median:"), ' ');
  const auto micros = words.size() == 2 && words[1] == "us" ? parse_double(words[0]) : std::nullopt;
  if (micros) figures.p50_ns = *micros * 1e3, figures.resolution_ns = kHundredthUs / 2;
  if (figures.p50_ns <= 0) throw Error(ErrorCode::kData, fmt::format("it says {} ms", text.dump()));
  return figures;
}

// --- ONNX Runtime's Python

constexpr const char* kLoopReport = "samples.json";

fs::path find_python(const fs::path& python) {
  return python;
}

std::vector<std::string> ask_onnxruntime() {
  return {"-c", "import numpy, onnxruntime"};
}

std::vector<std::string> loop_arguments(const ToolOrder& order) {
  Json inputs = Json::object();
  for (std::size_t i = 0; i < order.inputs.size(); ++i)
    inputs[order.inputs[i].name] = order.input_files.at(i);
  const Json text = {{"file", order.model_file.string()},
                     {"inputs", inputs},
                     {"threads", order.settings.threads},
                     {"options", order.settings.options},
                     {"warmup", order.warmup},
                     {"iterations", order.iterations},
                     {"out", (order.folder / kLoopReport).string()}};
  replace_file(order.folder / "order.json", text.dump(1) + "\n");
  replace_file(order.folder / "onnxruntime_loop.py", onnxruntime_loop());
  return {(order.folder / "onnxruntime_loop.py").string(), (order.folder / "order.json").string()};
}

ToolFigures read_loop(const ToolOrder& order, const std::string&) {
  const auto report = read_report(order.folder / kLoopReport);
  const auto samples = report.value("samples_ns", Json());
  std::vector<double> values;
  if (samples.is_array())
    for (const auto& sample : samples)
      if (sample.is_number()) values.push_back(sample.get<double>());
  if (values.empty()) throw Error(ErrorCode::kData, fmt::format("its {} has no samples", kLoopReport));
  return {stats::median(values), 0, report.value("version", "")};
}

constexpr std::array kTools{
    EngineTool{"benchmark_app",
               "it comes with the Python package: pip install openvino, and name that Python with "
               "--cross-check-python VENV/bin/python",
               "version.OpenVINO", find_benchmark_app, nothing_to_ask, benchmark_app_arguments,
               read_benchmark_app},
    EngineTool{
        "ONNX Runtime's Python",
        "pip install onnxruntime numpy, and name that Python with --cross-check-python VENV/bin/python",
        "version.ONNX Runtime", find_python, ask_onnxruntime, loop_arguments, read_loop},
};

}  // namespace

const EngineTool* find_engine_tool(std::string_view engine) {
  const auto* declared = config::find_declared_engine(engine);
  const auto row =
      declared ? std::ranges::find(kTools, declared->cross_check, &EngineTool::name) : kTools.end();
  return row == kTools.end() ? nullptr : &*row;
}

std::string no_tool_reason(std::string_view engine) {
  const auto* declared = config::find_declared_engine(engine);
  if (declared && !declared->no_cross_check.empty()) return declared->no_cross_check;
  return fmt::format("no tool of engine '{}' is known here", engine);
}

}  // namespace paceline::run
