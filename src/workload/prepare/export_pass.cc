// SPDX-License-Identifier: MIT
// The pass that writes a built-in model as a file.
#include <fmt/format.h>

#include <filesystem>

#include "base/clock.h"
#include "base/error.h"
#include "onnx/model_file.h"
#include "plugin/registry.h"
#include "workload/pass_records.h"
#include "workload/prepare/passes.h"

namespace paceline::workload {
namespace {

std::int64_t bytes_of(const pass::ExportTo& target) {
  return target.format == "onnx" ? onnx::size_on_disk(target.file)
                                 : static_cast<std::int64_t>(std::filesystem::file_size(target.file));
}

}  // namespace

void export_model(const pass::PassSpec& spec, pass::RecordSink& sink) {
  const auto& to = std::get<pass::ExportTo>(spec.task);
  sink.emit(pass::phase_record("load"));
  const auto& use = spec.plugin(plugin::Role::kExporter);
  const plugin::LoadedPlugin plugin(use.file);
  const auto exporter = plugin.make<plugin::Role::kExporter>(use.name);
  sink.emit(pass::loaded_record(plugin.description().versions(), {}));
  sink.emit(pass::phase_record("export"));
  const SteadyClock clock;
  const auto begin = clock.now_ns();
  exporter->write(spec.model, to.settings, to.file);
  const auto took = static_cast<double>(clock.now_ns() - begin);
  sink.emit(pass::prepared_record({to.format, bytes_of(to), took, {}}));
  sink.emit(pass::phase_record(kUnload));
}

}  // namespace paceline::workload
