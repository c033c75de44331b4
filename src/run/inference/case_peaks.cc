// SPDX-License-Identifier: MIT
#include "run/inference/case_peaks.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/units.h"
#include "config/vocabulary.h"
#include "result/figures/peak_memory.h"
#include "result/figures/summarize.h"
#include "run/inference/pass_factory.h"
#include "run/inference/peak_probes.h"

namespace paceline::run {
namespace {

// Null where the system does not tell.
std::string cpu_model(const nlohmann::json& environment) {
  const auto model = environment.value(nlohmann::json::json_pointer("/cpu/model"), nlohmann::json());
  return model.is_string() ? model.get<std::string>() : "unknown CPU";
}

// 0 where the environment does not say.
int allowed_cpus(const nlohmann::json& environment) {
  const auto cpus = environment.value(nlohmann::json::json_pointer("/cpu/cores_allowed"), nlohmann::json());
  return cpus.is_number_integer() ? cpus.get<int>() : 0;
}

// Fills in what is known of a built-in model; a check that counts operators has the last word.
void take_model(result::Flops& flops, const config::Settings& settings) {
  const auto* model = config::find_model(settings.text("model"));
  flops.model_flops_per_item = Number::missing("FLOPs of this model are not known");
  if (!model) return;
  const std::int64_t length =
      settings.has("sequence_length") ? settings.integer("sequence_length") : model->default_sequence_length;
  flops.model_flops_per_item = 2.0 * static_cast<double>(model->forward_macs(length));
  flops.convolution_share = model->convolution_share(length);
}

std::string machine(const RunSetup& setup) {
  std::string name = cpu_model(setup.environment);
  for (const auto& manifest : setup.engines.plugins())
    for (const auto& [library, version] : manifest.built_for)
      name += fmt::format("; {} {}", library, version);
  return name;
}

result::DevicePeak row_of(const Peak& peak, const std::string& variant) {
  return {peak.operation,
          variant,
          peak.flops_per_s,
          peak.spread,
          0,
          peak.source,
          Number::missing("datasheets are kept of GPUs only")};
}

}  // namespace

// No more than there are CPUs, unless one lane alone has more.
int CasePeaks::threads_of(const CaseRun& c) const {
  const int all = all_threads(c.base);
  return cpus_ > 0 ? std::min(all, std::max(cpus_, c.base.settings.threads)) : all;
}

void CasePeaks::show(CaseRun& c, const Peak& peak) const {
  c.result.flops.peak_measured_flops_per_s = peak.flops_per_s;
  c.result.flops.peak_spread = peak.spread;
  c.result.flops.peak_source = peak.source;
  const int threads = threads_of(c);
  const auto copies = table_.known(kCopies, threads);
  c.result.device_peaks.reset();
  if (!peak.flops_per_s || !copies.flops_per_s) return;
  result::DevicePeaks peaks;
  peaks.device = fmt::format("{}, {}", cpu_, plural(threads, "thread"));
  peaks.power_limit_w = Number::missing("of GPUs only");
  peaks.measured_utc = copies.measured_utc;
  peaks.peaks = {row_of(peak, arithmetic_of(c.result.benchmark.precision)),
                 row_of(copies, result::kWithinDevice)};
  c.result.device_peaks = std::move(peaks);
}

CasePeaks::CasePeaks(const RunSetup& setup, const std::filesystem::path& run_dir, RunObserver& observer,
                     const std::atomic<bool>& interrupt)
    : table_(machine(setup), PeakProbes(setup.engines, run_dir / "log.txt", observer, interrupt)),
      cpu_(cpu_model(setup.environment)),
      cpus_(allowed_cpus(setup.environment)),
      measures_(setup.measure_peaks),
      observer_(observer),
      interrupt_(interrupt) {}

bool CasePeaks::wants_peak(const CaseRun& c) const {
  return measures_ && c.result.flops.model_flops_per_item && !result::on_device(c.result.benchmark);
}

void CasePeaks::fill(CaseRun& c) const {
  auto& flops = c.result.flops;
  take_model(flops, c.definition.settings);
  if (!flops.model_flops_per_item) return;
  if (result::on_device(c.result.benchmark)) return;
  if (!measures_)
    flops.peak_measured_flops_per_s = Number::missing("not asked for (measure_peak: false)");
  else
    show(c, table_.known(c.result.benchmark.precision, threads_of(c)));
}

void CasePeaks::measure(CaseRun& c) {
  const auto& precision = c.result.benchmark.precision;
  const int threads = threads_of(c);
  const auto peak = table_.get(precision, threads);
  if (c.result.flops.flops_per_byte && peak.flops_per_s) table_.get(kCopies, threads);
  show(c, peak);
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
    auto peak = table_.known(c->result.benchmark.precision, threads_of(*c));
    if (!peak.flops_per_s && (interrupt_ || c->samples.empty()))
      peak.flops_per_s = Number::missing(interrupt_ ? "not measured: the run was interrupted"
                                                    : "not measured: the case has no times");
    show(*c, peak);
    if (!c->samples.empty()) resummarize(*c);
  }
}

}  // namespace paceline::run
