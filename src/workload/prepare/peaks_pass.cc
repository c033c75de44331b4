// SPDX-License-Identifier: MIT
// The pass that measures what a device does at best.
#include "plugin/registry.h"
#include "workload/pass_records.h"
#include "workload/prepare/passes.h"
#include "workload/window/sampler_observer.h"

namespace paceline::workload {

void measure_peaks(const pass::PassSpec& spec, pass::RecordSink& sink) {
  sink.emit(pass::phase_record("load"));
  const auto& use = spec.plugin(plugin::Role::kProbe);
  const plugin::LoadedPlugin plugin(use.file);
  const auto probe = plugin.make<plugin::Role::kProbe>(use.name);
  sink.emit(pass::phase_record("measure"));
  std::vector<result::SampledWindow> sampled;
  MeasuredWindow window;
  add_samplers(window, spec, 1, sampled);
  window.open();
  const auto operations = probe->measure(spec.settings.options.at("device"));
  window.close();
  result::Repetition unused;
  window.report(unused, 0);
  pass::PeaksReport report;
  for (const auto& one : operations)
    report.peaks.push_back(
        result::summarize_peak(one.operation, one.variant, one.detail, one.amount, one.times_ns));
  sink.emit(pass::sampled_record({pass::sampled_text(sampled)}));
  sink.emit(pass::peaks_record(report));
  sink.emit(pass::phase_record(kUnload));
}

}  // namespace paceline::workload
