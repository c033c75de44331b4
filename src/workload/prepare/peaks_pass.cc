// SPDX-License-Identifier: MIT
// The pass that measures what a device does at best.
#include "plugin/registry.h"
#include "workload/pass_records.h"
#include "workload/prepare/passes.h"

namespace paceline::workload {

void measure_peaks(const pass::PassSpec& spec, pass::RecordSink& sink) {
  sink.emit(pass::phase_record("load"));
  const auto& use = spec.plugin(plugin::Role::kProbe);
  const plugin::LoadedPlugin plugin(use.file);
  const auto probe = plugin.make_probe(use.name);
  sink.emit(pass::phase_record("measure"));
  pass::PeaksReport report;
  for (const auto& one : probe->measure(spec.settings.options.at("device")))
    report.peaks.push_back(
        result::summarize_peak(one.operation, one.variant, one.detail, one.amount, one.times_ns));
  sink.emit(pass::peaks_record(report));
  sink.emit(pass::phase_record(kUnload));
}

}  // namespace paceline::workload
