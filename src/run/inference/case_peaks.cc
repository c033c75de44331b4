// SPDX-License-Identifier: MIT
#include "run/inference/case_peaks.h"

#include <fmt/format.h>

#include "config/vocabulary.h"
#include "result/peak_memory.h"
#include "result/summarize.h"
#include "run/inference/peak_probes.h"

namespace paceline::run {
namespace {

// Null where the system does not tell.
std::string cpu_model(const nlohmann::json& environment) {
  const auto model = environment.value(nlohmann::json::json_pointer("/cpu/model"), nlohmann::json());
  return model.is_string() ? model.get<std::string>() : "unknown CPU";
}

result::Number model_flops(const config::Settings& settings) {
  const auto* model = config::find_model(settings.text("model"));
  if (!model) return result::Number::missing("FLOPs of this model are not known");
  const std::int64_t length =
      settings.has("sequence_length") ? settings.integer("sequence_length") : model->default_sequence_length;
  return 2.0 * static_cast<double>(model->forward_macs(length));
}

std::string machine(const RunSetup& setup) {
  std::string name = cpu_model(setup.environment);
  for (const auto& manifest : setup.engines.plugins())
    for (const auto& [library, version] : manifest.built_for)
      name += fmt::format("; {} {}", library, version);
  return name;
}

void show(CaseRun& c, const Peak& peak) {
  c.result.flops.peak_measured_flops_per_s = peak.flops_per_s;
  c.result.flops.peak_spread = peak.spread;
  c.result.flops.peak_source = peak.source;
}

}  // namespace

CasePeaks::CasePeaks(const RunSetup& setup, const std::filesystem::path& run_dir, RunObserver& observer,
                     const std::atomic<bool>& interrupt)
    : table_(machine(setup), PeakProbes(setup.engines, run_dir / "log.txt", observer, interrupt)),
      measures_(setup.measure_peaks),
      observer_(observer),
      interrupt_(interrupt) {}

bool CasePeaks::wants_peak(const CaseRun& c) const {
  return measures_ && c.result.flops.model_flops_per_item && !result::on_device(c.result.benchmark);
}

void CasePeaks::fill(CaseRun& c) const {
  auto& flops = c.result.flops;
  flops.model_flops_per_item = model_flops(c.definition.settings);
  if (!flops.model_flops_per_item) return;
  if (result::on_device(c.result.benchmark)) return;
  if (!measures_)
    flops.peak_measured_flops_per_s = result::Number::missing("not asked for (measure_peak: false)");
  else
    show(c, table_.known(c.result.benchmark.precision, c.base.settings.threads));
}

void CasePeaks::measure(CaseRun& c) {
  const auto& precision = c.result.benchmark.precision;
  const int threads = c.base.settings.threads;
  show(c, table_.get(precision, threads));
  resummarize(c);
  const bool passed = c.result.correctness.checked && c.result.correctness.passed;
  if (!result::above_measured_peak(c.result.flops) || !passed) return;
  const auto words = table_.raise(precision, threads, *c.result.flops.achieved_flops_per_s, c.result.label);
  if (!words.empty()) observer_.notice(words);
}

// Twice over the cases: what the last one raised is the peak of all. In a finished result nothing is "not
// measured yet".
void CasePeaks::conclude(const std::vector<CaseRun*>& cases) {
  for (auto* c : cases)
    if (!interrupt_ && wants_peak(*c) && !c->samples.empty()) measure(*c);
  for (auto* c : cases) {
    if (!wants_peak(*c)) continue;
    auto peak = table_.known(c->result.benchmark.precision, c->base.settings.threads);
    if (!peak.flops_per_s && (interrupt_ || c->samples.empty()))
      peak.flops_per_s = result::Number::missing(interrupt_ ? "not measured: the run was interrupted"
                                                            : "not measured: the case has no times");
    show(*c, peak);
    if (!c->samples.empty()) resummarize(*c);
  }
}

}  // namespace paceline::run
