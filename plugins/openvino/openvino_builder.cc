// SPDX-License-Identifier: MIT
#include "openvino/openvino_builder.h"

#include <fmt/format.h>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <openvino/core/model.hpp>

#include "openvino/compile_options.h"
#include "openvino/core_instance.h"
#include "openvino/errors.h"
#include "openvino/model_reader.h"

namespace paceline::openvino_plugin {
namespace {

ov::PartialShape bounds_of(const ShapeRange& range) {
  ov::PartialShape shape;
  for (std::size_t i = 0; i < range.min.size(); ++i)
    shape.push_back(ov::Dimension(range.min[i], range.max[i]));
  return shape;
}

void set_bounds(ov::Model& model, const ShapeProfile& profile) {
  std::map<std::string, ov::PartialShape> shapes;
  for (const auto& range : profile) shapes[range.input] = bounds_of(range);
  model.reshape(shapes);
}

plugin::EngineSettings engine_settings(const plugin::BuildSettings& settings) {
  plugin::EngineSettings result;
  result.precision = settings.precision;
  result.precision_of_file = true;  // whoever loads the file decides about rounding
  result.threads = settings.threads;
  result.options = settings.options;
  return result;
}

void write_blob(ov::CompiledModel& compiled, const std::string& file) {
  std::ofstream stream(file, std::ios::binary | std::ios::trunc);
  if (stream) compiled.export_model(stream);
  stream.close();
  if (!stream) throw Error(ErrorCode::kIo, fmt::format("cannot write '{}': {}", file, std::strerror(errno)));
}

bool is_open(const ShapeProfile& profile) {
  for (const auto& range : profile)
    if (range.min != range.max) return true;
  return false;
}

}  // namespace

plugin::BuildReport OpenVinoBuilder::build(const std::string& onnx_file,
                                           const plugin::BuildSettings& settings, const std::string& file) {
  if (settings.profiles.size() != 1)
    throw Error(ErrorCode::kUnsupported,
                fmt::format("a .blob has one profile of shapes, and {} were given; build one file for each",
                            settings.profiles.size()));
  return translate_errors(fmt::format("cannot compile '{}'", onnx_file), [&] {
    const auto options = compile_options(core(), engine_settings(settings));
    const auto read = read_model(onnx_file);
    const auto& model = read.graph;
    set_bounds(*model, settings.profiles.front());
    auto compiled = core().compile_model(model, kDevice, options);
    write_blob(compiled, file);
    plugin::BuildReport report{effective_settings(compiled), {}};
    if (is_open(settings.profiles.front()))
      report.notes.emplace_back(
          "OpenVINO keeps the bounds of the shapes; it has no shape that it tunes for, so opt_shapes is not "
          "used");
    return report;
  });
}

}  // namespace paceline::openvino_plugin
