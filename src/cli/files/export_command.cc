// SPDX-License-Identifier: MIT
// The command `export`.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <filesystem>

#include "base/display_text.h"
#include "base/error.h"
#include "base/file.h"
#include "base/units.h"
#include "cli/command_table.h"
#include "cli/files/model_options.h"
#include "cli/interrupts.h"
#include "cli/overwriting.h"
#include "cli/plugins.h"
#include "config/flags.h"
#include "config/option_table.h"
#include "config/vocabulary.h"
#include "result/stored/case_fields.h"

namespace paceline::cli {
namespace fs = std::filesystem;
namespace {

// Format that readers assume for a file of this name; empty if none.
std::string format_by_name(const std::string& file) {
  const auto* type = config::find_file_type(file);
  if (type == nullptr || !fs::path(file).has_extension()) return {};
  if (type->suffix == ".onnx") return "onnx";
  if (std::ranges::find(type->readers, "torchscript") != type->readers.end()) return "torchscript";
  return fmt::format("a file of engine {}", type->engine);
}

// The name of the file decides where no format is written. A file that is named as one of another format
// could not be read again.
void settle_format(const config::FlagSet& flags, config::Settings& options) {
  const auto named = format_by_name(options.text("output"));
  if (named.empty() || named == options.text("file_format")) return;
  const auto written = [&](std::string_view name) {
    const auto typed = std::ranges::find(flags.settings, name, &config::RawSetting::name);
    return typed == flags.settings.end() ? std::string() : typed->written;
  };
  if (!written("file_format").empty() || named != "torchscript")
    throw Error(ErrorCode::kUsage,
                fmt::format("{} {}: by its name it is taken for {}, and {} is written; name another file",
                            written("output"), options.text("output"), named, options.text("file_format")));
  options.set("file_format", named);
}

pass::ExportTo target(const config::Settings& options) {
  pass::ExportTo to;
  to.format = options.text("file_format");
  to.file = fs::absolute(required(options, "output", "--output resnet50.onnx")).string();
  to.settings.opset = options.integer("opset");
  to.settings.dynamic_batch = options.flag("dynamic_batch");
  to.settings.external_data_above_bytes = options.integer("external_data_above");
  std::error_code error;
  if (fs::is_directory(to.file, error))
    throw Error(ErrorCode::kUsage, fmt::format("--output '{}' is a folder; name a file", to.file));
  if (fs::exists(to.file, error) && !fs::is_regular_file(to.file, error))
    throw Error(ErrorCode::kUsage,
                fmt::format("--output '{}' is a device or a pipe, and a model is written as a file; name one",
                            options.text("output")));
  make_directories(fs::path(to.file).parent_path());
  return to;
}

bool changes_precision(const config::Settings& options) {
  const auto& precision = options.text("precision");
  if (precision == "fp32") return false;
  if (precision == "bf16" || precision == "tf32")
    throw Error(ErrorCode::kUnsupported,
                fmt::format("export writes fp32, fp16 and int8; {} is for build", precision));
  if (options.text("file_format") != "onnx")
    throw Error(
        ErrorCode::kUsage,
        fmt::format("--precision {} is for format onnx, and not for {}; name a file that ends in .onnx",
                    precision, options.text("file_format")));
  return true;
}

struct Written {
  plugin::ModelSpec model;
  pass::PreparedFile file;
};

Written write(const config::Settings& options, const pass::ExportTo& to, const Console& console) {
  const auto engines = engine_directory({});
  run::ModelOrder order(engines, options, to.file + ".parts", InterruptGuard::flag());
  if (changes_precision(options)) {
    const auto source = order.float_model(to);
    return {source, write_in_precision(order, options, source, "", to.file, console)};
  }
  const auto model = run::built_in_model(options);
  return {model, order.exported(model, to)};
}

std::string inputs_text(const plugin::ModelSpec& model, bool dynamic) {
  std::vector<std::string> texts;
  for (auto input : model.inputs) {
    std::vector<std::string> extents;
    for (const auto extent : input.shape) extents.push_back(extent < 0 ? "N" : fmt::format("{}", extent));
    if (dynamic) extents.front() = "N";
    texts.push_back(fmt::format("{}:{}:{}", input.name, fmt::join(extents, "x"), dtype_name(input.dtype)));
  }
  return fmt::format("{}", fmt::join(texts, ","));
}

}  // namespace

ExitCode export_command(const Context& context) {
  const auto flags = config::parse_flags(context.arguments, config::kExport);
  auto options = config::command_settings(flags);
  const Console console = make_console(options.flag("json"), options.flag("quiet"), options.flag("verbose"),
                                       options.flag("no_color"));
  const InterruptGuard guard;
  (void)required(options, "model", "--model resnet50");
  (void)required(options, "output", "--output resnet50.onnx");
  settle_model(options);
  settle_format(flags, options);
  const auto to = target(options);
  check_overwrites_no_input(
      flags, "output", std::array<fs::path, 3>{to.file, to.file + ".data", to.file + ".sensitivity.json"});
  const auto [model, written] = write(options, to, console);
  const auto inputs = inputs_text(model, to.settings.dynamic_batch);
  console.say(fmt::format("{}: {} as {}, {}, {}, in {}{}", to.file, options.text("model"), to.format,
                          format_bytes(static_cast<double>(written.size_bytes)), inputs,
                          format_duration_ns(written.duration_ns), quantisation_text(written.quantisation)));
  if (console.json)
    console.result(
        json_without_controls(nlohmann::json({{"file", to.file},
                                              {"model", options.text("model")},
                                              {"precision", options.text("precision")},
                                              {"format", to.format},
                                              {"inputs", inputs},
                                              {"size_bytes", written.size_bytes},
                                              {"duration_ns", written.duration_ns},
                                              {"quantisation", archive::Writer::write(written.quantisation)}})
                                  .dump(2)) +
        "\n");
  return ExitCode::kOk;
}

}  // namespace paceline::cli
