// SPDX-License-Identifier: MIT
// The pass that compiles an ONNX file for one engine.
#include <filesystem>

#include "base/clock.h"
#include "plugin/registry.h"
#include "workload/pass_records.h"
#include "workload/prepare/passes.h"

namespace paceline::workload {
namespace {

plugin::BuildSettings build_settings(const pass::PassSpec& spec, const pass::BuildTo& to) {
  plugin::BuildSettings settings;
  settings.precision = spec.settings.precision;
  settings.threads = spec.settings.threads;
  settings.options = spec.settings.options;
  settings.profiles = to.profiles;
  settings.log_file = to.log_file;
  return settings;
}

}  // namespace

void build_engine_file(const pass::PassSpec& spec, pass::RecordSink& sink) {
  const auto& to = std::get<pass::BuildTo>(spec.task);
  sink.emit(pass::phase_record("load"));
  const auto& use = spec.plugin(plugin::Role::kBuilder);
  const plugin::LoadedPlugin plugin(use.file);
  const auto builder = plugin.make<plugin::Role::kBuilder>(use.name);
  sink.emit(pass::phase_record("build"));
  const SteadyClock clock;
  const auto begin = clock.now_ns();
  const auto report = builder->build(spec.model.file, build_settings(spec, to), to.file);
  const auto took = static_cast<double>(clock.now_ns() - begin);
  sink.emit(pass::loaded_record(plugin.description().versions(), report.settings));
  const auto bytes = static_cast<std::int64_t>(std::filesystem::file_size(to.file));
  sink.emit(pass::prepared_record(
      {std::filesystem::path(to.file).extension().string(), bytes, took, {}, report.notes}));
  sink.emit(pass::phase_record(kUnload));
}

}  // namespace paceline::workload
