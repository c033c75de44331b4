// SPDX-License-Identifier: MIT
#include "run/case/gpu_peaks.h"

#include <fmt/format.h>

#include <algorithm>
#include <ctime>

#include "base/error.h"
#include "base/file.h"
#include "base/nvml_library.h"
#include "base/units.h"
#include "host/gpu_locality.h"
#include "result/case_fields.h"
#include "result/peak_memory.h"
#include "run/case/case_settings.h"
#include "run/case/peak_cache.h"

namespace paceline::run {
namespace {

using nlohmann::json;
using result::DevicePeaks;
using result::Number;

constexpr const char* kProbes = "probes 1";  // of the keys: figures of other probes are other figures
constexpr const char* kProbeName = "cuda";

// In parts (MIG), which have peaks of their own: they are measured, and not kept under the whole one's name.
bool is_divided(const json& gpu) {
  const auto mig = gpu.find("mig");
  return mig != gpu.end() && mig->is_boolean() && mig->get<bool>();
}

// What the environment says of a device, as CUDA counts in this process; empty where it is a part of a GPU,
// or not known which one it is.
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

result::Maybe<std::string> missing_time(const std::string& reason) {
  return result::Maybe<std::string>::missing(reason);
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
  return fmt::format("{}; {}", key, kProbes);
}

// As CUDA counts in this process.
int first_device_of(const CaseRun& c) {
  if (c.base.load.instances_per_device > 0) return c.base.load.device_of(0);
  const auto& params = c.result.benchmark.params;
  const auto written = params.find("device");
  return parse_device(written == params.end() ? "cuda" : written->second).value_or(Device{}).index;
}

// On how many GPUs the case runs.
std::int64_t gpus_of(const CaseRun& c) {
  if (!c.result.devices.empty()) return std::ssize(c.result.devices);
  if (c.result.benchmark.kind == config::WorkloadKind::kTraining) return c.result.benchmark.world_size;
  const auto each = instances_per_device(c.definition.settings);
  return each > 0 ? (c.base.load.instances + each - 1) / each : 1;
}

// "product bf16 (8192 x 8192 x 8192) on NVIDIA H200 (driver 580.65.06, 700 W), median of 40, measured 2026-…"
std::string source_text(const DevicePeaks& peaks, const result::DevicePeak& peak, std::int64_t gpus) {
  const auto limit = peaks.power_limit_w ? fmt::format(", {:.0f} W", *peaks.power_limit_w) : std::string();
  return fmt::format("{}{} {} ({}) on {} (driver {}{}), median of {}, measured {}",
                     gpus > 1 ? fmt::format("{} times ", gpus) : "", peak.operation, peak.variant,
                     peak.detail, peaks.device, peaks.driver, limit, peak.n,
                     peaks.measured_utc.value().value_or("?"));
}

std::vector<Datasheet> installed_datasheets(RunObserver& observer) {
  try {
    const auto file = datasheets_file();
    return std::filesystem::exists(file) ? parse_datasheets(read_file(file), file.string())
                                         : std::vector<Datasheet>();
  } catch (const Error& e) {
    observer.warning(fmt::format("datasheets of GPUs are left out: {}", e.what()));
    return {};
  }
}

}  // namespace

void use_peaks(result::CaseResult& c, const DevicePeaks& peaks, std::int64_t gpus) {
  const auto precision = result::arithmetic_of(c.benchmark.precision);
  const auto times = static_cast<double>(gpus);
  auto& flops = c.flops;
  c.device_peaks = peaks;
  const auto* best = result::best_peak(peaks, precision);
  const auto* product = result::find_peak(peaks, result::kProduct, precision);
  flops.peak_measured_flops_per_s = best                  ? Number(*best->per_s * times)
                                    : !peaks.measured_utc ? Number::missing(peaks.measured_utc.reason())
                                    : product             ? product->per_s
                                              : Number::missing("no probe measures products in " + precision);
  flops.peak_spread = best ? best->spread : flops.peak_measured_flops_per_s;
  flops.peak_source = best ? source_text(peaks, *best, gpus) : std::string();
  const auto datasheet = result::datasheet_peak(peaks, precision);
  flops.peak_datasheet_flops_per_s = datasheet ? Number(*datasheet * times) : datasheet;
}

GpuPeaks::GpuPeaks(const KindTools& tools) : tools_(tools) {}

// The cases of a run are on few devices, of which the driver is asked once.
GpuPeaks::Known& GpuPeaks::known_for(const CaseRun& c) {
  const auto index = first_device_of(c);
  const auto [found, fresh] = known_.try_emplace(index);
  auto& known = found->second;
  if (!fresh) return known;
  if (known_.size() == 1) datasheets_ = installed_datasheets(tools_.observer);
  known.device = device_name({DeviceKind::kCuda, index});
  known.probe = tools_.setup.engines.find(plugin::Role::kProbe, kProbeName, known.device);
  known.peaks = described(tools_.setup.environment, index);
  known.key = key_of(known.peaks, tools_.setup.engines, known.probe.file);
  const auto cache = read_peak_cache();
  if (const auto kept = cache.find(known.key); kept != cache.end() && kept->contains("peaks")) {
    try {
      result::Reader::read(*kept, "", known.peaks);
    } catch (const Error&) {
      known.peaks = described(tools_.setup.environment, index);  // it is of another form
    }
  }
  add_datasheet(known.peaks, datasheets_);
  if (!known.peaks.measured_utc)
    known.peaks.measured_utc =
        missing_time(tools_.setup.measure_peaks ? "not measured yet" : "not asked for (measure_peak: false)");
  return known;
}

void GpuPeaks::fill(CaseRun& c) {
  if (!result::on_device(c.result.benchmark)) return;
  use_peaks(c.result, known_for(c).peaks, gpus_of(c));
}

void GpuPeaks::measure(const CaseRun& c, Known& known) {
  known.tried = true;
  auto& when = known.peaks.measured_utc;
  if (known.probe.file.empty()) return void(when = missing_time(known.probe.unavailable));
  pass::PassSpec spec;
  spec.kind = pass::PassKind::kPeaks;
  spec.case_id = c.result.case_id;
  spec.settings.options["device"] = known.device;
  spec.use(plugin::Role::kProbe, kProbeName, known.probe.file.string());
  const auto outcome = tools_.runner.run_announced(c, spec, "peak");
  if (!outcome.ok) return void(when = missing_time(outcome.reason));
  for (const auto& peak : outcome.report.get<pass::PeaksReport>().peaks)
    result::keep_faster(known.peaks, peak);
  when = format_utc(std::time(nullptr));
  if (!known.peaks.device.empty()) keep_in_peak_cache(known.key, result::Writer::write(known.peaks));
}

void GpuPeaks::conclude(const std::vector<CaseRun*>& cases) {
  for (auto* c : cases) {
    if (!result::on_device(c->result.benchmark) || c->samples.empty()) continue;
    auto& known = known_for(*c);
    const bool due = tools_.setup.measure_peaks && !known.peaks.measured_utc && !known.tried;
    if (due && tools_.interrupt)
      known.peaks.measured_utc = missing_time("not measured: the run was interrupted");
    if (due && !tools_.interrupt) measure(*c, known);
    use_peaks(c->result, known.peaks, gpus_of(*c));
    resummarize(*c);
  }
}

}  // namespace paceline::run
