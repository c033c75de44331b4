// SPDX-License-Identifier: MIT
#include "run/case_peaks.h"

#include "config/vocabulary.h"
#include "result/summarize.h"

namespace paceline::run {
namespace {

// Null where the system does not tell.
std::string cpu_model(const nlohmann::json& environment) {
  const auto model = environment.value(nlohmann::json::json_pointer("/cpu/model"), nlohmann::json());
  return model.is_string() ? model.get<std::string>() : "unknown CPU";
}

result::Number model_flops(const config::Settings& settings) {
  const auto* model = config::find_model(settings.text("model"));
  if (!model || !model->forward_macs) return result::Number::missing("FLOPs of this model are not known");
  const std::int64_t length =
      settings.has("sequence_length") ? settings.integer("sequence_length") : model->default_sequence_length;
  return 2.0 * static_cast<double>(model->forward_macs(length));
}

}  // namespace

CasePeaks::CasePeaks(const RunSetup& setup, const std::filesystem::path& run_dir, RunObserver& observer,
                     const std::atomic<bool>& interrupt)
    : table_(setup.engines, cpu_model(setup.environment), run_dir / "log.txt"),
      measures_(setup.measure_peaks),
      observer_(observer),
      interrupt_(interrupt) {}

void CasePeaks::fill(CaseRun& c) {
  c.result.flops.model_flops_per_item = model_flops(c.definition.settings);
  if (!c.result.flops.model_flops_per_item) return;
  if (measures_)
    fill_peak(c);
  else
    c.result.flops.peak_measured_flops_per_s = result::Number::missing("not asked for (measure_peak: false)");
}

void CasePeaks::fill_peak(CaseRun& c) {
  if (c.result.benchmark.params.contains("device")) {
    c.result.flops.peak_measured_flops_per_s =
        result::Number::missing("the peak is measured on the CPU only");
    return;
  }
  const auto peak = table_.get(c.result.benchmark.precision, c.base.settings.threads, observer_, interrupt_);
  c.result.flops.peak_measured_flops_per_s = peak.flops_per_s;
  c.result.flops.peak_source = peak.source;
}

// Above the peak: it was measured in a slow minute, or the FLOPs are counted wrongly.
void CasePeaks::recheck(std::vector<CaseRun>& cases) {
  for (const auto& c : cases)
    if (!interrupt_ && result::above_measured_peak(c.result.flops))
      table_.measure_again(c.result.benchmark.precision, c.base.settings.threads, observer_, interrupt_);
  for (auto& c : cases) {
    if (!c.result.flops.peak_measured_flops_per_s || c.samples.empty()) continue;
    fill_peak(c);
    resummarize(c);
  }
}

}  // namespace paceline::run
