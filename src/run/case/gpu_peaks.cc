// SPDX-License-Identifier: MIT
#include "run/case/gpu_peaks.h"

#include <fmt/format.h>

#include <algorithm>
#include <ctime>

#include "base/error.h"
#include "base/file.h"
#include "base/foreign_text.h"
#include "base/nvml_library.h"
#include "base/text.h"
#include "base/units.h"
#include "host/machine/gpu_locality.h"
#include "result/figures/peak_memory.h"
#include "result/figures/summarize.h"
#include "result/stored/case_fields.h"
#include "run/case/case_settings.h"
#include "run/case/peak_cache.h"

namespace paceline::run {
namespace {

using nlohmann::json;
using result::DevicePeaks;

constexpr const char* kGpuProbes = "probes 1";  // of the keys: figures of other probes are other figures
constexpr const char* kProbeName = "cuda";
constexpr const char* kProbed = "probed";  // in the cache, beside the peaks

// In parts (MIG), which have peaks of their own: they are measured, and not kept under the whole one's name.
bool is_divided(const json& gpu) {
  const auto mig = gpu.find("mig");
  return mig != gpu.end() && mig->is_boolean() && mig->get<bool>();
}

// Finds a device in the environment, as CUDA counts in this process; empty if it is a part of a GPU, or not
// known which one it is.
json gpu_in(const json& environment, int index) {
  const auto gpus = environment.value(json::json_pointer("/nvidia/gpus"), json::array());
  const auto uuid = host::gpu_at_index(host::gpu_places(), index).uuid;
  for (const auto& gpu : gpus)
    if (uuid && gpu.value("uuid", json()) == json(*uuid)) return is_divided(gpu) ? json::object() : gpu;
  const bool in_order = !uuid && !nvml::own_variable("CUDA_VISIBLE_DEVICES");
  if (!in_order || !gpus.is_array() || index >= std::ssize(gpus)) return json::object();
  const auto& gpu = gpus[static_cast<std::size_t>(index)];
  return is_divided(gpu) ? json::object() : gpu;
}

Maybe<std::string> missing_time(const std::string& reason) {
  return Maybe<std::string>::missing(reason);
}

std::string text_in(const json& object, const char* key) {
  const auto found = object.find(key);
  return found != object.end() && found->is_string() ? found->get<std::string>() : std::string();
}

DevicePeaks described(const json& environment, int index) {
  const auto gpu = gpu_in(environment, index);
  DevicePeaks peaks;
  peaks.device = text_in(gpu, "name");
  peaks.driver = text_in(environment.value("nvidia", json::object()), "driver_version");
  const auto limit = gpu.find("power_limit_w");
  peaks.power_limit_w = limit != gpu.end() && limit->is_number()
                            ? Number(limit->get<double>())
                            : Number::missing("the driver does not report it");
  return peaks;
}

std::string key_of(const DevicePeaks& peaks, const EngineDirectory& engines,
                   const std::filesystem::path& file) {
  auto key =
      fmt::format("{}; driver {}; {}", peaks.device, peaks.driver,
                  peaks.power_limit_w ? fmt::format("{:.0f} W", *peaks.power_limit_w) : "no limit known");
  for (const auto& manifest : engines.plugins())
    if (manifest.file == file)
      for (const auto& [library, version] : manifest.built_for)
        key += fmt::format("; {} {}", library, version);
  return fmt::format("{}; {}", key, kGpuProbes);
}

// As CUDA counts in this process.
int first_device_of(const CaseRun& c) {
  return parse_device(c.result.benchmark.device).value_or(Device{}).index;
}

// On how many GPUs the ranks of the case run.
std::int64_t gpus_of_ranks(const CaseRun& c) {
  if (!c.result.devices.empty()) return std::ssize(c.result.devices);
  return traits_of(c.result.benchmark.kind).by_ranks ? c.result.benchmark.world_size : 1;
}

// The GPUs of the case. One of another host, or one that cannot be told, counts as the first.
std::vector<int> devices_of(const CaseRun& c, const json& environment) {
  const auto& load = c.base.inference.load;
  std::vector<int> devices;
  if (load.instances_per_device > 0) {
    for (std::int64_t i = 0; i < load.instances; i += load.instances_per_device)
      devices.push_back(load.device_of(i));
    return devices;
  }
  const int first = first_device_of(c);
  for (int i = 0; i < static_cast<int>(gpus_of_ranks(c)); ++i)
    devices.push_back(i == 0 || gpu_in(environment, first + i).empty() ? first : first + i);
  return devices;
}

// "product bf16 (8192 x 8192 x 8192) on NVIDIA H200 (driver 580.65.06, 700 W), median of 40, measured 2026-…"
std::string source_text(const DevicePeaks& peaks, const result::DevicePeak& peak, std::int64_t gpus) {
  const auto limit = peaks.power_limit_w ? fmt::format(", {:.0f} W", *peaks.power_limit_w) : std::string();
  const auto times = gpus > 1 ? fmt::format("{} times ", gpus) : "";
  const auto on = fmt::format("{} (driver {}{})", peaks.device, peaks.driver, limit);
  if (peak.n == 0)
    return fmt::format("{}{} {} on {}: {}", times, peak.operation, peak.variant, on, peak.detail);
  return fmt::format("{}{} {} ({}) on {}, median of {}, measured {}", times, peak.operation, peak.variant,
                     peak.detail, on, peak.n, peaks.measured_utc.value().value_or("?"));
}

Number measured_peak(const DevicePeaks& peaks, const std::string& precision) {
  if (const auto* best = result::best_peak(peaks, precision)) return best->per_s;
  if (!peaks.measured_utc) return Number::missing(peaks.measured_utc.reason());
  const auto* product = result::find_peak(peaks, result::kProduct, precision);
  return product ? product->per_s : Number::missing("no probe measures products in " + precision);
}

// Adds those that are there; if none is, a reason stays.
Number sum_of(const Number& a, const Number& b) {
  return a && b ? Number(*a + *b) : a ? b : a;
}

// Other programs' use of a GPU while it was probed; empty if none was seen.
std::string disturbance(const std::vector<result::SampledWindow>& windows, const std::string& device) {
  double others = 0;
  for (const auto& window : windows)
    for (const auto& series : window.series)
      for (const double count : series.metric == "other_processes" ? series.numbers : std::vector<double>())
        others = std::max(others, count);
  if (others == 0) return {};
  const auto count = static_cast<std::int64_t>(others);
  return fmt::format("{} of others {} on {} while its peaks were measured: the figures were not kept",
                     plural(count, "process"), count == 1 ? "was" : "were", device);
}

// Reads an entry of the cache; empty if it has none.
ProbedRates probed_in(const json& entry) {
  ProbedRates probed;
  const auto rates = entry.value(kProbed, json::object());
  for (const auto& [name, rate] : rates.items())
    if (rate.is_number()) probed[name] = rate.get<double>();
  return probed;
}

std::string tflops(double flops_per_s) {
  return fmt::format("{} TFLOP/s", format_significant(flops_per_s * 1e-12));
}

std::vector<Datasheet> installed_datasheets(RunObserver& observer) {
  try {
    const auto file = datasheets_file();
    return std::filesystem::exists(file)
               ? parse_datasheets(read_foreign(file, Foreign::kTable), file.string())
               : std::vector<Datasheet>();
  } catch (const Error& e) {
    observer.warning(fmt::format("datasheets of GPUs are left out: {}", e.what()));
    return {};
  }
}

}  // namespace

void use_peaks(result::CaseResult& c, const std::vector<const DevicePeaks*>& of_gpus) {
  const auto precision = result::arithmetic_of(c.benchmark.precision);
  auto& flops = c.flops;
  c.device_peaks = *of_gpus.front();
  flops.peak_measured_flops_per_s = flops.peak_datasheet_flops_per_s = 0.0;
  flops.peak_spread = Number::missing("no peak was measured");
  std::vector<std::string> sources;
  for (const auto* peaks : of_gpus) {
    flops.peak_measured_flops_per_s =
        sum_of(flops.peak_measured_flops_per_s, measured_peak(*peaks, precision));
    flops.peak_datasheet_flops_per_s =
        sum_of(flops.peak_datasheet_flops_per_s, result::datasheet_peak(*peaks, precision));
    const auto* best = result::best_peak(*peaks, precision);
    if (!best) continue;
    flops.peak_spread = best->spread;
    auto source = source_text(*peaks, *best, std::ranges::count(of_gpus, peaks));
    if (std::ranges::find(sources, source) == sources.end()) sources.push_back(std::move(source));
  }
  flops.peak_source = join(sources, "; ");
}

void keep_probed(ProbedRates& probed, const result::DevicePeak& peak) {
  if (!peak.per_s || peak.n == 0) return;  // of a case
  auto& rate = probed[peak.operation + " " + peak.variant];
  rate = std::max(rate, *peak.per_s);
}

bool may_raise_peak(const DevicePeaks& peaks, const ProbedRates& probed, const std::string& precision,
                    double flops_per_s) {
  constexpr double kPlausible = 2;
  double measured = 0;
  for (const std::string operation : {result::kProduct, result::kConvolution})
    if (const auto found = probed.find(operation + " " + precision); found != probed.end())
      measured = std::max(measured, found->second);
  const auto datasheet = result::datasheet_peak(peaks, precision);
  return flops_per_s <= kPlausible * measured && (!datasheet || flops_per_s <= *datasheet);
}

GpuPeaks::GpuPeaks(const KindTools& tools) : tools_(tools) {}

// The cases of a run are on few devices, of which the driver is asked once. GPUs that are alike in what peaks
// depend on share them.
GpuPeaks::Known& GpuPeaks::known_for(int index) {
  if (keys_.empty()) datasheets_ = installed_datasheets(tools_.observer);
  Known fresh;
  fresh.device = device_name({DeviceKind::kCuda, index});
  if (const auto key = keys_.find(index); key != keys_.end()) return known_.at(key->second);
  fresh.probe = tools_.setup.engines.find(plugin::Role::kProbe, kProbeName, fresh.device);
  fresh.peaks = described(tools_.setup.environment, index);
  fresh.key = key_of(fresh.peaks, tools_.setup.engines, fresh.probe.file);
  keys_[index] = fresh.peaks.device.empty() ? fmt::format("{}; {}", fresh.device, fresh.key) : fresh.key;
  const auto [found, is_new] = known_.try_emplace(keys_[index], std::move(fresh));
  auto& known = found->second;
  if (!is_new) return known;
  const auto cache = read_peak_cache();
  if (const auto kept = cache.find(known.key); kept != cache.end() && kept->contains("peaks")) {
    try {
      archive::Reader::read(*kept, "", known.peaks);
      known.probed = probed_in(*kept);
    } catch (const Error&) {
      known.peaks = described(tools_.setup.environment, index);  // it is of another form
    }
    for (const auto& peak : known.peaks.peaks) keep_probed(known.probed, peak);
  }
  add_datasheet(known.peaks, datasheets_);
  if (!known.peaks.measured_utc)
    known.peaks.measured_utc =
        missing_time(tools_.setup.measure_peaks ? "not measured yet" : "not asked for (measure_peak: false)");
  return known;
}

void GpuPeaks::show(CaseRun& c) {
  std::vector<const DevicePeaks*> of_gpus;
  for (const int index : devices_of(c, tools_.setup.environment)) of_gpus.push_back(&known_for(index).peaks);
  use_peaks(c.result, of_gpus);
}

void GpuPeaks::fill(CaseRun& c) {
  if (result::on_device(c.result.benchmark)) show(c);
}

// A sampler looks for other programs meanwhile.
void GpuPeaks::measure(const CaseRun& c, Known& known) {
  known.tried = true;
  auto& when = known.peaks.measured_utc;
  const bool again = bool(when);
  const auto fails = [&](const std::string& reason) {
    if (!again) when = missing_time(reason);
  };
  if (known.probe.file.empty()) return fails(known.probe.unavailable);
  pass::PassSpec spec;
  spec.kind = pass::PassKind::kPeaks;
  spec.case_id = c.result.case_id;
  spec.settings.options["device"] = known.device;
  spec.use(plugin::Role::kProbe, kProbeName, known.probe.file.string());
  const std::string sampler(result::kDeviceSampler);
  if (const auto nvml = tools_.setup.engines.find(plugin::Role::kSampler, sampler); !nvml.file.empty())
    spec.plugins.push_back(
        {plugin::Role::kSampler, sampler, nvml.file.string(), {{"period_ms", "1000"}, {"pcie", "false"}}});
  const auto outcome = tools_.runner.run_announced(c, spec, "peak");
  if (!outcome.ok) return fails(outcome.reason);
  if (const auto others = disturbance(outcome.report.sampled, known.device); !others.empty()) {
    tools_.observer.warning(others);
    return fails(others);
  }
  for (const auto& peak : outcome.report.get<pass::PeaksReport>().peaks) {
    result::keep_faster(known.peaks, peak);
    keep_probed(known.probed, peak);
  }
  when = format_utc(std::time(nullptr));
  keep(known);
}

void GpuPeaks::keep(const Known& known) {
  if (known.peaks.device.empty()) return;
  auto entry = archive::Writer::write(known.peaks);
  entry[kProbed] = known.probed;
  keep_in_peak_cache(known.key, std::move(entry));
}

// Where the case did more than its GPU's peak, the peak is measured again, once, and then raised to what the
// case did if its outputs were found right.
void GpuPeaks::raise(CaseRun& c, Known& known) {
  const auto precision = result::arithmetic_of(c.result.benchmark.precision);
  const double before = *c.result.flops.peak_measured_flops_per_s;
  if (!known.tried) measure(c, known);
  show(c), resummarize(c);
  const auto& flops = c.result.flops;
  const double now = flops.peak_measured_flops_per_s.value().value_or(before),
               reached = *flops.achieved_flops_per_s;
  const bool by_case = reached > now && may_raise_peak(known.peaks, known.probed, precision, reached) &&
                       c.result.correctness.checked && c.result.correctness.passed;
  if (by_case) {
    const auto* best = result::best_peak(known.peaks, precision);
    result::DevicePeak raised = *best;
    raised.per_s = reached, raised.n = 0;
    raised.spread = Number::missing("one figure of a case");
    raised.detail = fmt::format("reached by {}, {}; the probe: {}", c.result.label,
                                format_utc(std::time(nullptr)), tflops(now));
    result::keep_faster(known.peaks, raised);
    keep(known);
  }
  if (by_case || now > before)
    tools_.observer.notice(fmt::format(
        "the peak in {} of {} is raised from {} to {}, {}; it is kept in {}", precision, known.device,
        tflops(before), tflops(std::max(now, reached)),
        by_case ? "which " + c.result.label + " reached" : "measured again", peak_cache_file().string()));
}

void GpuPeaks::conclude(const std::vector<CaseRun*>& cases) {
  std::vector<CaseRun*> on_gpus;
  for (auto* c : cases)
    if (result::on_device(c->result.benchmark) && !c->samples.empty()) on_gpus.push_back(c);
  for (auto* c : on_gpus) {
    const auto devices = devices_of(*c, tools_.setup.environment);
    for (const int index : devices) {
      auto& known = known_for(index);
      const bool due = tools_.setup.measure_peaks && !known.peaks.measured_utc && !known.tried;
      if (due && tools_.interrupt)
        known.peaks.measured_utc = missing_time("not measured: the run was interrupted");
      if (due && !tools_.interrupt) measure(*c, known);
    }
    show(*c), resummarize(*c);
    const bool may_raise = tools_.setup.measure_peaks && !tools_.interrupt && devices.size() == 1;
    if (may_raise && result::above_measured_peak(c->result.flops)) raise(*c, known_for(devices.front()));
  }
  for (auto* c : on_gpus) show(*c), resummarize(*c);  // what the last one raised is the peak of all
}

}  // namespace paceline::run
