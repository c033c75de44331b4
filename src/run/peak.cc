// SPDX-License-Identifier: MIT
#include "run/peak.h"

#include <fmt/format.h>

#include <ctime>

#include "base/error.h"
#include "base/file.h"
#include "base/npy.h"
#include "base/units.h"
#include "config/vocabulary.h"
#include "run/worker.h"
#include "stats/quantile.h"
#include "workload/inference/inputs.h"

namespace paceline::run {
namespace fs = std::filesystem;
namespace {

constexpr std::int64_t kWarmup = 10, kIterations = 50;
constexpr double kQuietFrac = 0.05;  // a peak measured beside busier neighbours is used once, not kept
constexpr const char* kProbes[] = {"peak_gemm", "peak_conv"};

fs::path cache_file() {
  return cache_dir() / "peaks.json";
}

nlohmann::json read_cache() {
  std::error_code error;
  if (!fs::exists(cache_file(), error)) return nlohmann::json::object();
  const auto json = nlohmann::json::parse(read_file(cache_file()), nullptr, false);
  return json.is_object() ? json : nlohmann::json::object();
}

// A cache is a convenience: a read-only home must not end a run.
void write_cache(const std::string& key, const Peak& peak) {
  try {
    auto json = read_cache();
    json[key] = {{"flops_per_s", *peak.flops_per_s}, {"source", peak.source}};
    make_directories(cache_dir());
    write_file_atomic(cache_file(), json.dump(1) + "\n");
  } catch (const Error&) {
    return;
  }
}

std::string arithmetic_of(const std::string& precision) {
  return precision.starts_with("amp_") ? precision.substr(4) : precision;
}

// Scratch folder for the probes' inputs.
class ScratchFolder {
 public:
  ScratchFolder() {
    std::string name = (temp_dir() / "paceline-peak-XXXXXX").string();
    if (!::mkdtemp(name.data()))
      throw Error(ErrorCode::kIo, fmt::format("cannot make a folder below '{}'", temp_dir().string()));
    path_ = name;
  }
  ScratchFolder(const ScratchFolder&) = delete;
  ScratchFolder& operator=(const ScratchFolder&) = delete;
  ~ScratchFolder() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
  }
  [[nodiscard]] const fs::path& path() const { return path_; }

 private:
  fs::path path_;
};

workload::PassSpec probe_pass(const config::Model& model, const std::string& precision, int threads,
                              const fs::path& folder) {
  workload::PassSpec pass;
  pass.case_id = std::string(model.name);
  pass.engine = "eager";
  pass.model.name = std::string(model.name);
  pass.batch = pass.samples = std::max<std::int64_t>(1, model.internal_batch);
  pass.model.inputs = config::model_inputs(model, pass.batch, 0);
  pass.settings.precision = precision;
  pass.settings.threads = threads;
  pass.loop.warmup.mode = stats::WarmupMode::kFixed;
  pass.loop.warmup.fixed_iterations = kWarmup;
  pass.loop.iterations = kIterations;
  pass.loop.batch = 1;
  for (auto& tensor : workload::make_inputs({pass.model.inputs, {}, 1, {}, {}})) {
    const auto file = folder / fmt::format("{}-{}.npy", model.name, pass.input_files.size());
    write_npy(file, tensor.view());
    pass.input_files.push_back(file.string());
  }
  return pass;
}

}  // namespace

PeakTable::PeakTable(const EngineDirectory& engines, std::string cpu_model, fs::path log)
    : engines_(engines), cpu_model_(std::move(cpu_model)), log_(std::move(log)) {
  const auto cache = read_cache();
  for (const auto& [key, entry] : cache.items())
    if (entry.contains("flops_per_s") && entry["flops_per_s"].is_number() && entry.contains("source") &&
        entry["source"].is_string())
      known_[key] = {entry["flops_per_s"].get<double>(), entry["source"].get<std::string>(), true};
}

std::string PeakTable::key(const std::string& precision, int threads) const {
  std::string libraries;
  for (const auto& manifest : engines_.installed())
    for (const auto& [library, version] : manifest.built_for)
      libraries += fmt::format(" {} {}", library, version);
  return fmt::format("{}; {}; {} threads;{}", cpu_model_, precision, threads, libraries);
}

Peak PeakTable::get(const std::string& precision, int threads, RunObserver& observer,
                    const std::atomic<bool>& interrupt) {
  const std::string arithmetic = arithmetic_of(precision);
  const std::string k = key(arithmetic, threads);
  if (const auto it = known_.find(k); it != known_.end()) return it->second;
  const Peak peak = measure(arithmetic, threads, observer, interrupt);
  known_[k] = peak;
  if (peak.flops_per_s && peak.quiet) write_cache(k, peak);
  return peak;
}

void PeakTable::measure_again(const std::string& precision, int threads, RunObserver& observer,
                              const std::atomic<bool>& interrupt) {
  const std::string arithmetic = arithmetic_of(precision);
  const std::string k = key(arithmetic, threads);
  if (!measured_again_.insert(k).second) return;
  const Peak peak = measure(arithmetic, threads, observer, interrupt);
  Peak& known = known_[k];
  if (!peak.flops_per_s || (known.flops_per_s && *peak.flops_per_s <= *known.flops_per_s)) return;
  known = peak;
  if (peak.quiet) write_cache(k, peak);
}

Peak PeakTable::measure(const std::string& precision, int threads, RunObserver& observer,
                        const std::atomic<bool>& interrupt) const {
  const auto home = engines_.find("eager");
  if (home.file.empty()) return {result::Number::missing("no engine to measure it with"), {}, false};
  const ScratchFolder scratch;
  Peak best{result::Number::missing("could not be measured"), {}, false};
  for (const char* probe : kProbes) {
    const auto* model = config::find_model(probe);
    if (!model || interrupt) continue;
    WorkerRequest request;
    request.spec = probe_pass(*model, precision, threads, scratch.path());
    request.spec.plugin_file = home.file.string();
    request.log = log_;
    const PassInfo info{0, 0, fmt::format("{} {} {} threads", probe, precision, threads), "peak", 0, 0};
    observer.pass_begins(info);
    const auto outcome = run_worker(request, interrupt, [&](const auto& p) { observer.progress(p); });
    observer.pass_ends(info, {});
    if (!outcome.ok) {
      best.flops_per_s = best.flops_per_s ? best.flops_per_s : result::Number::missing(outcome.reason);
      continue;
    }
    const auto& foreign = outcome.report.repetition.foreign_cpu_frac;
    const bool quiet = !foreign || *foreign <= kQuietFrac;
    const auto x = result::durations_ns(outcome.report.samples);
    const double flops =
        2.0 * static_cast<double>(model->forward_macs(0)) * static_cast<double>(request.spec.batch);
    const double rate = flops * 1e9 / stats::median(x);
    if (!best.flops_per_s || rate > *best.flops_per_s)
      best = {rate,
              fmt::format("{} in {}, {} threads, median of {}, measured {}{}", probe, precision, threads,
                          x.size(), format_utc(std::time(nullptr)),
                          quiet ? "" : " beside busy neighbours, so a lower bound"),
              quiet};
  }
  return best;
}

}  // namespace paceline::run
