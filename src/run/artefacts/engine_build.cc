// SPDX-License-Identifier: MIT
#include "run/artefacts/engine_build.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <filesystem>

#include "base/bounded_json.h"
#include "base/clock.h"
#include "base/device.h"
#include "base/error.h"
#include "base/file.h"
#include "base/json.h"
#include "base/scratch_folder.h"
#include "base/text.h"
#include "onnx/model_file.h"
#include "process/tool_process.h"
#include "process/worker.h"
#include "result/judged/reasons.h"
#include "run/python/python_programs.h"

namespace paceline::run {
namespace fs = std::filesystem;
using Json = nlohmann::json;
namespace {

const std::array<std::string, 4> kPrecisions{"fp32", "tf32", "bf16", "fp16"};
constexpr const char* kDevice = "device";
constexpr const char* kFreezing = "freezing";
constexpr const char *kDefaultDevice = "cpu", *kOn = "true";  // unless the order says otherwise

std::string option(const BuildOrder& order, const char* name, const char* fallback) {
  const auto it = order.options.find(name);
  return it == order.options.end() ? fallback : it->second;
}

void check_order(const BuildOrder& order) {
  for (const auto& [name, value] : order.options)
    if (name != kDevice && name != kFreezing)
      throw Error(ErrorCode::kUsage, fmt::format("engine {} has no option '{}'", order.engine, name));
  if (std::ranges::find(kPrecisions, order.precision) == kPrecisions.end())
    throw Error(ErrorCode::kUnsupported, fmt::format("packages are compiled in {}, not in {}",
                                                     join(kPrecisions, ", "), order.precision));
  if (order.precision == "tf32" && is_cpu(option(order, kDevice, kDefaultDevice)))
    throw Error(ErrorCode::kUnsupported, "tf32 is a mode of NVIDIA GPUs; on a CPU use fp32 or bf16");
  if (order.profiles.size() > 1 || std::ranges::any_of(order.profiles.front(), [](const ShapeRange& range) {
        return range.min != range.max;
      }))
    throw Error(
        ErrorCode::kUnsupported,
        "a package has one shape per input; give --opt-shapes alone, and build a file for each shape");
}

// The plug-in that will load the package, whose LibTorch decides about the PyTorch: "2.15".
std::string torch_release(const EngineDirectory& engines, const BuildOrder& order) {
  const auto home =
      home_here(engines, plugin::Role::kEngine, order.engine, option(order, kDevice, kDefaultDevice));
  if (home.file.empty()) throw Error(ErrorCode::kUnavailable, home.unavailable);
  for (const auto& manifest : engines.plugins()) {
    if (manifest.file != home.file) continue;
    for (const auto& [library, version] : manifest.built_for)
      if (library == "LibTorch") return version.substr(0, version.find('.', version.find('.') + 1));
  }
  throw Error(ErrorCode::kUnavailable,
              fmt::format("the manifest of '{}' names no LibTorch; reinstall paceline", home.file.string()));
}

fs::path find_python(const std::string& release) {
  const char* const chosen = std::getenv("PACELINE_PYTHON");
  const std::string name = chosen && *chosen ? chosen : "python3";
  if (auto python = process::find_program(name); !python.empty()) return python;
  throw Error(ErrorCode::kUnavailable,
              fmt::format("AOTInductor compiles with PyTorch's Python, and '{}' is not there; activate an "
                          "environment with torch {}, or set PACELINE_PYTHON to its python",
                          name, release));
}

Json inputs_of(const BuildOrder& order) {
  Json inputs = Json::array();
  for (const auto& input : order.inputs)
    inputs.push_back({{"name", input.name}, {"dtype", dtype_name(input.dtype)}, {"shape", input.shape}});
  return inputs;
}

Json order_text(const BuildOrder& order, const std::string& release, const fs::path& package,
                const fs::path& answer) {
  const auto inputs = inputs_of(order);
  return {{"script", order.source.string()},
          {"inputs", inputs},
          {"device", option(order, kDevice, kDefaultDevice)},
          {"precision", order.precision},
          {"torch", release},
          {"freezing", option(order, kFreezing, kOn) == kOn},
          {"metadata", {{"PACELINE_INPUTS", inputs.dump()}, {"PACELINE_PRECISION", order.precision}}},
          {"package", package.string()},
          {"answer", answer.string()}};
}

std::string last_line(const std::string& text) {
  const auto lines = split(text, '\n');
  const auto line =
      std::find_if(lines.rbegin(), lines.rend(), [](const auto& l) { return !trim(l).empty(); });
  return line == lines.rend() ? "" : std::string(trim(*line));
}

[[noreturn]] void fail(const BuildOrder& order, ErrorCode code, const std::string& reason) {
  throw Error(code, fmt::format("cannot build '{}' for {}: {}; log: {}", order.model, order.engine, reason,
                                order.log.string()));
}

Json read_answer(const BuildOrder& order, const fs::path& file) {
  auto answer = fs::exists(file) ? json_or_discarded(read_file(file)) : Json();
  if (!answer.is_object()) fail(order, ErrorCode::kInternal, "its Python program gave no answer");
  if (const auto missing = answer.value("missing", ""); !missing.empty())
    throw Error(ErrorCode::kUnavailable, missing);
  return answer;
}

// Runs the program; what it and the compilers print goes to the order's log.
Json run_python(const BuildOrder& order, const std::string& release, const fs::path& package,
                const fs::path& folder, const std::atomic<bool>& interrupt) {
  const auto python = find_python(release);
  const auto program = folder / "aotinductor_build.py", text = folder / "order.json",
             answer = folder / "answer.json", log = folder / "log.txt";
  replace_file(program, aotinductor_build());
  replace_file(text, order_text(order, release, package, answer).dump(1) + "\n");
  using How = process::ToolEnd::How;
  const auto [how, problem, exit_code] = process::end_of_tool(
      {{python.string(), program.string(), text.string()}, order.env, log, {}, order.timeout_s}, interrupt);
  const auto said = read_file(log);
  write_file_atomic(order.log, said);
  if (how == How::kDone) return read_answer(order, answer);
  const auto line = how == How::kInterrupted ? std::string() : last_line(said);
  fail(order, how == How::kFailed ? ErrorCode::kInternal : ErrorCode::kTimeout,
       line.empty() ? problem : fmt::format("{}: {}", problem, line));
}

// Compiles the TorchScript file of an order into `file`, with the Python of PACELINE_PYTHON, else python3.
// Throws Error(kUnavailable) with what is missing and how to get it (the engine, Python, a PyTorch like
// LibTorch, a C++ compiler, Triton, the GPU), Error(kUnsupported) for what packages do not have,
// Error(kInternal) with the last line of the log where the compilation fails.
pass::PassReport compile_package(const EngineDirectory& engines, const BuildOrder& order,
                                 const fs::path& file, const std::atomic<bool>& interrupt) {
  check_order(order);
  write_file_atomic(order.log, "");  // before minutes of work
  const auto release = torch_release(engines, order);
  const auto scratch = ScratchFolder::below_temp("paceline-package");
  const SteadyClock clock;
  const auto begin = clock.now_ns();
  const auto answer = run_python(order, release, file, scratch.path(), interrupt);
  if (!fs::is_regular_file(file)) fail(order, ErrorCode::kInternal, "no package was written");
  pass::PassReport built;
  auto& made = built.fill<pass::PreparedFile>();
  made.format = file.extension().string();
  made.size_bytes = static_cast<std::int64_t>(fs::file_size(file));
  made.duration_ns = static_cast<double>(clock.now_ns() - begin);
  for (const auto& [library, version] : answer.at("versions").items())
    built.versions.emplace_back(library, version.get<std::string>());
  built.effective_settings = {{kDevice, option(order, kDevice, kDefaultDevice)},
                              {kFreezing, option(order, kFreezing, kOn) == kOn ? "on" : "off"}};
  return built;
}

process::WorkerRequest request_of(const BuildOrder& order, const fs::path& plugin_file,
                                  const fs::path& file) {
  process::WorkerRequest request;
  auto& spec = request.spec;
  spec.kind = pass::PassKind::kBuild;
  spec.use(plugin::Role::kBuilder, order.engine, plugin_file.string());
  spec.model.file = order.source.string();
  spec.settings.precision = order.precision;
  spec.settings.threads = order.threads;
  spec.settings.options = order.options;
  spec.task = pass::BuildTo{file.string(), order.log.string(), order.profiles};
  request.env = order.env;
  request.log = order.log;
  request.timeout_s = order.timeout_s;
  return request;
}

// Beside the target and of its type: engines look at the suffix. Another build may write to the same target.
fs::path unfinished(const fs::path& file) {
  return file.parent_path() /
         fmt::format(".{}.{}.unfinished{}", file.stem().string(), ::getpid(), file.extension().string());
}

pass::PassReport build_in_worker(const EngineDirectory& engines, const BuildOrder& order,
                                 const fs::path& file, const std::atomic<bool>& interrupt) {
  const auto plugin_file = engines.require(plugin::Role::kBuilder, order.engine);
  onnx::check_data_files(order.source);
  write_file_atomic(order.log, "");
  auto outcome = process::run_worker(request_of(order, plugin_file, file), interrupt, {});
  if (outcome.ok) return std::move(outcome.report);
  throw Error(result::reason_of(outcome.reason_code).error,
              fmt::format("cannot build '{}' for {}: {}; log: {}", order.model, order.engine, outcome.reason,
                          order.log.string()));
}

}  // namespace

pass::PassReport build_engine(const EngineDirectory& engines, const BuildOrder& order,
                              const std::atomic<bool>& interrupt) {
  if (fs::is_directory(order.file))
    throw Error(ErrorCode::kUsage, fmt::format("'{}' is a folder; name a file", order.file.string()));
  const auto part = unfinished(order.file);
  check_own_name(part);
  try {
    const auto build = order.engine == kPackageEngine ? compile_package : build_in_worker;
    auto built = build(engines, order, part, interrupt);
    fs::rename(part, order.file);
    return built;
  } catch (...) {
    std::error_code ignored;
    fs::remove(part, ignored);
    throw;
  }
}

Target built_file(const EngineDirectory& engines, const BuildOrder& order,
                  const std::atomic<bool>& interrupt) {
  return {order.file.string(), {}, [&engines, order, &interrupt] {
            return build_engine(engines, order, interrupt);
          }};
}

}  // namespace paceline::run
