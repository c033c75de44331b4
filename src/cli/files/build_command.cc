// SPDX-License-Identifier: MIT
// The command `build`.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <set>

#include "base/display_text.h"
#include "base/error.h"
#include "base/file.h"
#include "base/foreign_text.h"
#include "base/numbered_build.h"
#include "base/sha256.h"
#include "base/text.h"
#include "base/units.h"
#include "cli/command_table.h"
#include "cli/files/model_options.h"
#include "cli/interrupts.h"
#include "cli/overwriting.h"
#include "cli/plugins.h"
#include "config/engine_config.h"
#include "config/flags.h"
#include "config/option_table.h"
#include "config/shape_profiles.h"
#include "config/vocabulary.h"
#include "result/stored/case_fields.h"
#include "run/artefacts/quantised_files.h"

namespace paceline::cli {
namespace fs = std::filesystem;
namespace {

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

// Folder of files between the model and the output. Another build may write to the same output.
fs::path parts_of(const fs::path& output) {
  return fmt::format("{}.{}.parts", output.string(), ::getpid());
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

bool is_script_file(const std::string& file) {
  const auto* type = config::find_file_type(file);
  return type && std::ranges::find(type->readers, "torchscript") != type->readers.end();
}

void check_model(config::Settings& options) {
  (void)required(options, "engine", "--engine NAME");
  (void)required(options, "model", "--model resnet50.onnx");
  settle_model(options);
  const auto& name = options.text("model");
  const bool package = run::makes_package(options);
  if (!config::find_model(name) && !(package ? is_script_file(name) : run::is_onnx_file(options)))
    throw Error(ErrorCode::kUsage,
                fmt::format("--model '{}': build takes {} file or a built-in model{}", name,
                            package ? "a TorchScript" : "an ONNX", package ? " for aotinductor" : ""));
}

// The file to compile.
run::BuildSource source_of(run::ModelOrder& order, const config::Settings& options, const fs::path& output,
                           const Console& console) {
  if (run::makes_package(options)) return order.script(output);
  const auto& given = options.text("model");
  if (run::is_onnx_file(options) && !run::needs_quantising(options, given)) return {given};
  pass::ExportTo to{"onnx", output.string(), {}};
  to.settings.opset = options.integer("opset");
  to.settings.external_data_above_bytes = options.integer("external_data_above");
  const auto model = order.float_model(to);
  if (!run::needs_quantising(options, model.file)) return {model.file};
  const auto& precision = options.text("precision");
  const auto file = fmt::format("{}.{}.onnx", (order.folder() / output.filename()).string(), precision);
  const auto written = write_in_precision(order, options, model, options.text("engine"), file, console);
  return {file, {}, written.quantisation};
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
std::string engine_text(const run::BuildOrder& order, const pass::PassReport& built) {
  if (built.versions.empty()) return order.engine;
  const auto& [library, version] = built.versions.front();
  return fmt::format("{} ({} {})", order.engine, library, version);
}

nlohmann::json to_json(const run::BuildOrder& order, const std::string& model, const pass::PassReport& built,
                       const result::Quantisation& quantisation) {
  const auto& made = built.get<pass::PreparedFile>();
  nlohmann::json versions = nlohmann::json::object();
  for (const auto& [name, version] : built.versions) versions[name] = version;
  return {{"file", order.file.string()},
          {"model", model},
          {"engine", order.engine},
          {"precision", order.precision},
          {"shapes", profiles_text(order.profiles)},
          {"size_bytes", made.size_bytes},
          {"duration_ns", made.duration_ns},
          {"sha256", sha256_file(order.file)},
          {"log", order.log.string()},
          {"versions", versions},
          {"settings", built.effective_settings},
          {"notes", made.notes},
          {"quantisation", archive::Writer::write(quantisation)}};
}

run::BuildOrder numbered(run::BuildOrder order, int number) {
  order.file = numbered_build(order.file.string(), number);
  order.log = numbered_build(order.log.string(), number);
  return order;
}

nlohmann::json build_once(run::ModelOrder& model_order, const run::BuildOrder& order,
                          const std::string& model, const result::Quantisation& quantisation,
                          const Console& console) {
  const auto& built = model_order.built(order);
  const auto& made = built.get<pass::PreparedFile>();
  console.say(fmt::format("{}: {} for {} in {}, {}, {}, in {}{}", order.file.string(), model,
                          engine_text(order, built), order.precision,
                          format_bytes(static_cast<double>(made.size_bytes)), profiles_text(order.profiles),
                          format_duration_ns(made.duration_ns), quantisation_text(quantisation)));
  for (const auto& note : made.notes) console.warn(note);
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
  if (options.integer("builds") > 1 && options.has("timing_cache"))
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
  const auto engines = engine_directory({});
  (void)config::shape_profiles(options);  // throws mistakes before anything is written
  if (!run::makes_package(options)) engines.require(plugin::Role::kBuilder, options.text("engine"));
  const auto output = output_of(options);
  check_outputs(flags, options, output);
  run::ModelOrder model_order(engines, options, parts_of(output), InterruptGuard::flag());
  const auto source = source_of(model_order, options, output, console);
  const auto order = run::ordered_build(options, source, output);
  warn_of_shared_times(options, console);
  nlohmann::json builds = nlohmann::json::array();
  for (int number = 1; number <= options.integer("builds"); ++number)
    builds.push_back(build_once(model_order, numbered(order, number), model, source.quantisation, console));
  if (builds.size() > 1) console.say(builds_text(builds, options));
  if (console.json)
    console.result(json_without_controls((builds.size() > 1 ? builds : builds.front()).dump(2)) + "\n");
  return ExitCode::kOk;
}

}  // namespace paceline::cli
