// SPDX-License-Identifier: MIT
// The command `build`.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <optional>
#include <set>

#include "base/device.h"
#include "base/display_text.h"
#include "base/error.h"
#include "base/file.h"
#include "base/foreign_text.h"
#include "base/numbered_build.h"
#include "base/sha256.h"
#include "base/text.h"
#include "base/units.h"
#include "cli/command_table.h"
#include "cli/files/float_model.h"
#include "cli/interrupts.h"
#include "cli/overwriting.h"
#include "cli/plugins.h"
#include "config/engine_config.h"
#include "config/flags.h"
#include "config/option_table.h"
#include "config/shape_profiles.h"
#include "config/shapes.h"
#include "config/vocabulary.h"
#include "host/machine/cpu_choice.h"
#include "onnx/graph.h"
#include "onnx/model_file.h"
#include "result/stored/case_fields.h"
#include "run/artefacts/engine_build.h"
#include "run/artefacts/file_inputs.h"
#include "run/artefacts/model_files.h"
#include "run/artefacts/quantised_files.h"

namespace paceline::cli {
namespace fs = std::filesystem;
namespace {

// Options of this command that go to the engine unchanged.
constexpr std::array kEngineOptions{"workspace", "dla", "freezing"};
constexpr const char* kTimingCache = "timing_cache";  // likewise, but a file

// Where no engine is named it is the one whose files end as the output does: "--output r.plan".
void imply_engine(config::FlagSet& flags) {
  const auto output = std::ranges::find(flags.settings, "output", &config::RawSetting::name);
  if (flags.has("engine") || output == flags.settings.end() || output->values.empty()) return;
  const fs::path file = output->values.front().text;
  for (const auto& engine : config::declared_engines()) {
    if (std::ranges::find(engine.builds, file.extension().string()) == engine.builds.end()) continue;
    config::RawSetting implied = *output;
    implied.name = "engine";
    implied.values.front().text = engine.name;
    flags.settings.push_back(std::move(implied));
    return;
  }
}

config::FlagSet read_flags(const Context& context) {
  auto flags = config::parse_flags(context.arguments, config::kBuild);
  const auto given = std::find_if(flags.settings.rbegin(), flags.settings.rend(),
                                  [](const auto& s) { return s.name == "engine_config"; });
  if (given != flags.settings.rend()) {
    const std::string file = given->values.at(0).text;
    flags = config::with_engine_config(flags, read_foreign(file, Foreign::kEngineConfig), file);
  }
  imply_engine(flags);
  return flags;
}

// Prefix of files between the model and the output. Another build may write to the same output.
fs::path work_of(const fs::path& output) {
  return fmt::format("{}.{}", output.string(), ::getpid());
}

fs::path output_of(const config::Settings& options) {
  const auto& engine = options.text("engine");
  const auto* declared = config::find_declared_engine(engine);
  if (!declared || declared->builds.empty())
    throw Error(ErrorCode::kUnavailable,
                fmt::format("no plug-in here declares which files are built for {}", engine));
  const auto& suffixes = declared->builds;  // the first one is that in examples
  const auto example = fmt::format("--output model{}", suffixes.front());
  const fs::path file = fs::absolute(required(options, "output", example.c_str()));
  if (std::find(suffixes.begin(), suffixes.end(), file.extension()) == suffixes.end())
    throw Error(ErrorCode::kUsage, fmt::format("--output '{}': files of engine {} end in {}", file.string(),
                                               engine, join(suffixes, " or ")));
  make_directories(file.parent_path());
  return file;
}

bool makes_package(const config::Settings& options) {
  return options.text("engine") == run::kPackageEngine;
}

std::string device_of(const config::Settings& options) {
  const auto device = parse_device(options.text("device"));
  const bool cpu = device && device->kind == DeviceKind::kCpu;
  if (makes_package(options)) {
    if (device) return device_name(*device);
    throw Error(ErrorCode::kUsage,
                fmt::format("--device '{}': write cpu, cuda or cuda:1", options.text("device")));
  }
  if (!device || cpu)
    throw Error(ErrorCode::kUsage,
                fmt::format("--device '{}': files for one GPU are built on it; write cuda or cuda:1",
                            options.text("device")));
  return device_name(*device);
}

std::map<std::string, std::string> engine_options(const config::Settings& options) {
  std::map<std::string, std::string> own;
  for (const char* name : kEngineOptions)
    if (options.has(name)) own[name] = config::value_text(options.list(name).front());
  if (options.has("device")) own["device"] = device_of(options);
  if (options.has(kTimingCache)) own[kTimingCache] = fs::absolute(options.text(kTimingCache)).string();
  return own;
}

bool is_script_file(const std::string& file) {
  const auto* type = config::find_file_type(file);
  return type && std::ranges::find(type->readers, "torchscript") != type->readers.end();
}

// A TorchScript file takes its inputs by their place and declares few types and no shapes.
std::vector<TensorSpec> inputs_of_script(const config::Settings& options) {
  const auto& file = options.text("model");
  std::vector<TensorSpec> given, inputs;
  if (options.has("opt_shapes")) given = config::parse_shapes(options.text("opt_shapes"));
  for (const auto& declared : run::file_inputs(engine_directory({}), "torchscript", file, {},
                                               options.number("timeout_s"), InterruptGuard::flag())) {
    const auto it = std::ranges::find(given, declared.name, &TensorSpec::name);
    if (it == given.end())
      throw Error(ErrorCode::kUsage,
                  fmt::format("'{0}' does not say which shape its input '{1}' has; give --opt-shapes "
                              "{1}:8x3x224x224, with all inputs",
                              file, declared.name));
    inputs.push_back(*it);
    if (declared.dtype) inputs.back().dtype = *declared.dtype;
  }
  return inputs;
}

// The batch of a built-in model is free until its package is made.
std::vector<ShapeProfile> package_profiles(const config::Settings& options, std::vector<TensorSpec> inputs) {
  if (config::find_model(options.text("model")))
    for (auto& input : inputs) input.shape.at(0) = -1;
  return config::complete_profiles(config::shape_profiles(options), inputs, options.integer("batch"));
}

void check_model(config::Settings& options) {
  (void)required(options, "engine", "--engine NAME");
  (void)required(options, "model", "--model resnet50.onnx");
  settle_model(options);
  const auto& name = options.text("model");
  const bool package = makes_package(options);
  if (!config::find_model(name) && !(package ? is_script_file(name) : is_onnx_file(options)))
    throw Error(ErrorCode::kUsage,
                fmt::format("--model '{}': build takes {} file or a built-in model{}", name,
                            package ? "a TorchScript" : "an ONNX", package ? " for aotinductor" : ""));
}

// The file to compile: ONNX in the precision asked for, or TorchScript. Temporary files are removed with this
// object.
class Source {
 public:
  // `work`: beginning of the names of its files.
  Source(const config::Settings& options, const fs::path& work, const Console& console) {
    file_ = options.text("model");
    if (makes_package(options)) {
      use_script(options, work);
      return;
    }
    const bool own = is_onnx_file(options);
    if (own && !run::needs_quantising(options, file_)) return;
    pass::ExportTo to;
    to.format = "onnx";
    to.file = work.string();
    to.settings.opset = options.integer("opset");
    to.settings.external_data_above_bytes = options.integer("external_data_above");
    float_.emplace(options, to);
    file_ = float_->model().file;
    if (run::needs_quantising(options, file_)) quantise(options, work, console);
  }
  ~Source() {
    std::error_code ignored;
    for (const char* end : {"", ".data"})
      if (!written_.empty()) fs::remove(written_ + end, ignored);
  }
  Source(const Source&) = delete;
  Source& operator=(const Source&) = delete;
  [[nodiscard]] const std::string& file() const { return file_; }
  [[nodiscard]] const result::Quantisation& quantisation() const { return quantisation_; }
  [[nodiscard]] const std::vector<TensorSpec>& script_inputs() const { return script_inputs_; }

 private:
  void use_script(const config::Settings& options, const fs::path& work) {
    if (!config::find_model(file_)) {
      script_inputs_ = inputs_of_script(options);
      return;
    }
    auto model = model_spec(options);
    const auto profiles = package_profiles(options, model.inputs);
    for (std::size_t i = 0; i < model.inputs.size(); ++i) model.inputs[i].shape = profiles.front()[i].opt;
    script_inputs_ = model.inputs;
    pass::ExportTo to;
    to.format = "torchscript";
    to.file = file_ = written_ = work.string() + ".float.pt";
    run::export_model(engine_directory({}), model, to, options.number("timeout_s"), InterruptGuard::flag());
  }
  void quantise(const config::Settings& options, const fs::path& work, const Console& console) {
    written_ = fmt::format("{}.{}.onnx", work.string(), options.text("precision"));
    quantisation_ =
        write_in_precision(options, float_->model(), options.text("engine"), written_, console).quantisation;
    file_ = written_;
  }

  std::optional<FloatFile> float_;
  std::string file_, written_;
  result::Quantisation quantisation_;
  std::vector<TensorSpec> script_inputs_;
};

run::BuildOrder order_of(const config::Settings& options, const Source& source, const fs::path& output) {
  run::BuildOrder order;
  order.engine = options.text("engine");
  order.precision = options.text("precision");
  order.threads = static_cast<int>(host::allowed_cpus().size());
  order.timeout_s = options.number("timeout_s");
  order.model = options.text("model");
  order.source = fs::absolute(source.file());
  order.file = output;
  order.log = options.has("log") ? fs::path(options.text("log")) : fs::path(output.string() + ".log");
  order.log = fs::absolute(order.log);
  order.options = engine_options(options);
  order.inputs = source.script_inputs();
  order.profiles = makes_package(options)
                       ? package_profiles(options, order.inputs)
                       : config::complete_profiles(config::shape_profiles(options),
                                                   onnx::graph_inputs(onnx::read_model(order.source).graph()),
                                                   options.integer("batch"));
  return order;
}

std::string profiles_text(const std::vector<ShapeProfile>& profiles) {
  std::string text;
  for (const auto& profile : profiles) {
    if (!text.empty()) text += "; ";
    for (const auto& range : profile)
      text += (&range == &profile.front() ? "" : ",") + config::range_text(range);
  }
  return text;
}

// "tensorrt (TensorRT-RTX 1.7.1)": the library that built the file need not have the engine's name.
std::string engine_text(const run::BuildOrder& order, const run::BuiltFile& built) {
  if (built.versions.empty()) return order.engine;
  const auto& [library, version] = built.versions.front();
  return fmt::format("{} ({} {})", order.engine, library, version);
}

nlohmann::json to_json(const run::BuildOrder& order, const std::string& model, const run::BuiltFile& built,
                       const result::Quantisation& quantisation) {
  nlohmann::json versions = nlohmann::json::object();
  for (const auto& [name, version] : built.versions) versions[name] = version;
  return {{"file", order.file.string()},
          {"model", model},
          {"engine", order.engine},
          {"precision", order.precision},
          {"shapes", profiles_text(order.profiles)},
          {"size_bytes", built.file.size_bytes},
          {"duration_ns", built.file.duration_ns},
          {"sha256", sha256_file(order.file)},
          {"log", order.log.string()},
          {"versions", versions},
          {"settings", built.settings},
          {"notes", built.file.notes},
          {"quantisation", archive::Writer::write(quantisation)}};
}

run::BuildOrder numbered(run::BuildOrder order, int number) {
  order.file = numbered_build(order.file.string(), number);
  order.log = numbered_build(order.log.string(), number);
  return order;
}

nlohmann::json build_once(const run::BuildOrder& order, const std::string& model,
                          const result::Quantisation& quantisation, const Console& console) {
  const auto built = run::build_engine(engine_directory({}), order, InterruptGuard::flag());
  console.say(fmt::format("{}: {} for {} in {}, {}, {}, in {}{}", order.file.string(), model,
                          engine_text(order, built), order.precision,
                          format_bytes(static_cast<double>(built.file.size_bytes)),
                          profiles_text(order.profiles), format_duration_ns(built.file.duration_ns),
                          quantisation_text(quantisation)));
  for (const auto& note : built.file.notes) console.warn(note);
  return to_json(order, model, built, quantisation);
}

// For several builds: whether they are identical files, and how to measure them.
std::string builds_text(const nlohmann::json& builds, const config::Settings& options) {
  std::vector<std::string> files;
  std::set<std::string> kinds;
  for (const auto& build : builds) {
    files.push_back(build.at("file").get<std::string>());
    kinds.insert(build.at("sha256").get<std::string>());
  }
  return fmt::format(
      "{} builds, {}; how much they vary: paceline infer --engine {} --model {}, with --shapes and --batch",
      builds.size(),
      kinds.size() == 1 ? "all of them the same bytes" : fmt::format("{} different files", kinds.size()),
      options.text("engine"), join(files, ","));
}

void check_outputs(const config::FlagSet& flags, const config::Settings& options, const fs::path& output) {
  std::vector<fs::path> files{output.string() + ".log"};
  check_own_name(files.front());
  for (int number = 1; number <= options.integer("builds"); ++number)
    files.emplace_back(numbered_build(output.string(), number));
  check_overwrites_no_input(flags, "output", files);
  if (!options.has("log")) return;
  const fs::path log = options.text("log");
  std::error_code unknown;
  if (fs::is_fifo(log, unknown))  // opening it would wait for a reader
    throw Error(ErrorCode::kUsage, fmt::format("--log '{}' is a pipe; name a file", log.string()));
  check_overwrites_no_input(flags, "log", std::array{log});
}

void warn_of_shared_times(const config::Settings& options, const Console& console) {
  if (options.integer("builds") > 1 && options.has(kTimingCache))
    console.warn(
        "the later builds take their times from --timing-cache and will hardly differ; leave it away to see "
        "how builds vary");
}

}  // namespace

ExitCode build_command(const Context& context) {
  const auto flags = read_flags(context);
  auto options = config::command_settings(flags);
  const Console console = make_console(options.flag("json"), options.flag("quiet"), options.flag("verbose"),
                                       options.flag("no_color"));
  const InterruptGuard guard;
  check_model(options);
  const auto model = options.text("model");
  (void)config::shape_profiles(options);  // throws mistakes before anything is written
  if (!makes_package(options)) engine_directory({}).require(plugin::Role::kBuilder, options.text("engine"));
  const auto output = output_of(options);
  check_outputs(flags, options, output);
  const Source source(options, work_of(output), console);
  const auto order = order_of(options, source, output);
  warn_of_shared_times(options, console);
  nlohmann::json builds = nlohmann::json::array();
  for (int number = 1; number <= options.integer("builds"); ++number)
    builds.push_back(build_once(numbered(order, number), model, source.quantisation(), console));
  if (builds.size() > 1) console.say(builds_text(builds, options));
  if (console.json)
    console.result(json_without_controls((builds.size() > 1 ? builds : builds.front()).dump(2)) + "\n");
  return ExitCode::kOk;
}

}  // namespace paceline::cli
