// SPDX-License-Identifier: MIT
#include "cli/files/model_options.h"

#include <fmt/format.h>

#include "base/display_text.h"
#include "base/error.h"
#include "base/file.h"
#include "base/reading.h"
#include "config/inference/folder_weights.h"
#include "pass/sensitivity.h"
#include "run/artefacts/quantised_files.h"

namespace paceline::cli {
std::string required(const config::Settings& options, const char* name, const char* example) {
  if (options.has(name)) return options.text(name);
  throw Error(ErrorCode::kUsage, fmt::format("--{} is missing, e.g. {}", name, example));
}

void settle_model(config::Settings& options) {
  const auto weights = options.has("weights") ? options.text("weights") : std::string();
  const auto why = weights.empty() ? Refusal() : no_regular_file(weights);
  if (why) throw Error(ErrorCode::kUsage, fmt::format("--weights: '{}' {}", shown_path(weights), *why));
  const auto folder = config::folder_of_weights(options.text("model"), weights);
  if (!folder.empty()) options.set("model", folder);
}

pass::PreparedFile write_in_precision(run::ModelOrder& order, const config::Settings& options,
                                      const plugin::ModelSpec& model, const std::string& engine,
                                      const std::string& file, const Console& console) {
  if (run::calibrates_with_random_inputs(options)) console.warn(run::kRandomCalibration);
  auto written = order.in_precision(model, engine, file);
  if (options.flag("int8_sensitivity") && options.text("precision") == "int8")
    print(console.text(), for_terminal(pass::sensitivity_table(read_file(file + ".sensitivity.json"))));
  return written;
}

std::string quantisation_text(const result::Quantisation& q) {
  if (q.precision.empty()) return "";
  const auto calibrated =
      q.calibration.empty() ? "" : fmt::format(", ranges by {} from {}", q.method, q.calibration);
  auto text = fmt::format(", {} layers in {} ({}-bit weights, {} activations){}, {} operators left in float",
                          q.layers.value().value_or(0), q.precision, q.weight_bits.value().value_or(0),
                          q.activations, calibrated, q.float_layers.size());
  for (const auto& note : q.notes) text += "; " + note;
  return text;
}

}  // namespace paceline::cli
