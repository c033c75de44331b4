// SPDX-License-Identifier: MIT
#include "run/inference/peak_probes.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <ctime>
#include <optional>

#include "base/error.h"
#include "base/file.h"
#include "base/scratch_folder.h"
#include "base/units.h"
#include "config/vocabulary.h"
#include "host/checks/fma_probe.h"
#include "host/machine/affinity.h"
#include "host/machine/cpu.h"
#include "host/machine/memory.h"
#include "process/worker.h"
#include "run/artefacts/stages.h"
#include "run/case/pass_runner.h"
#include "stats/quantile.h"

namespace paceline::run {
namespace fs = std::filesystem;
namespace {

constexpr std::int64_t kProbeWarmup = 1, kFewest = 5, kTimeNs = 500'000'000;  // of one probe
constexpr double kQuietFrac = 0.05;  // beside busier neighbours a peak is a lower bound
constexpr std::uint64_t kInputSeed = 1;
constexpr const char* kEngine = "eager";
constexpr std::array<std::pair<const char*, const char*>, 2> kModels{
    {{"peak_conv", result::kConvolution}, {"peak_gemm", result::kProduct}}};

pass::PassSpec probe_pass(const config::Model& model, const std::string& precision, int threads) {
  pass::PassSpec pass;
  pass.case_id = std::string(model.name);
  pass.model.name = std::string(model.name);
  pass.batch = pass.inference.samples = std::max<std::int64_t>(1, model.internal_batch);
  pass.model.inputs = config::model_inputs(model, pass.batch, 0);
  pass.settings.precision = precision;
  pass.settings.threads = threads;
  pass.loop.warmup.mode = stats::WarmupMode::kFixed;
  pass.loop.warmup.fixed_iterations = kProbeWarmup;
  pass.loop.stop.quantiles_ppm = {};
  pass.loop.stop.n_min = kFewest;
  pass.loop.stop.t_min_ns = kTimeNs;
  pass.loop.batch = 1;
  return pass;
}

// Interquartile range over the median.
Number spread_of(const std::vector<double>& x) {
  const auto sorted = stats::sorted_copy(x);
  if (sorted.size() < 4) return Number::missing("too few repetitions");
  return (stats::nearest_rank(sorted, 750'000) - stats::nearest_rank(sorted, 250'000)) / stats::median(x);
}

// `how`: with what; `but`: what the reader of the source must know besides.
Peak measured(double per_s, const std::vector<double>& repetitions, const std::string& how,
              const std::string& but = {}) {
  Peak peak{per_s, spread_of(repetitions), {}};
  peak.measured_utc = format_utc(std::time(nullptr));
  peak.source = fmt::format("{}, measured {}{}", how, peak.measured_utc, but);
  return peak;
}

// Why there are none goes into the peak.
std::vector<host::FmaRate> fma_rates(int threads, Peak& peak) {
  try {
    return host::measure_fma_rates(threads);
  } catch (const Error& e) {
    peak.flops_per_s = Number::missing(e.what());
    return {};
  }
}

}  // namespace

Count copy_bytes(std::int64_t cache_bytes, const Count& usable_bytes) {
  constexpr std::int64_t kTimesCache = 4, kLeast = 256'000'000, kPartOfMemory = 4;
  const std::int64_t bytes = std::max(kTimesCache * cache_bytes, kLeast);
  if (!usable_bytes || bytes <= *usable_bytes / kPartOfMemory) return bytes;
  return Count::missing(fmt::format(
      "copies that caches do not hold take {}, more than a quarter of the {} that may be used",
      format_bytes(static_cast<double>(bytes)), format_bytes(static_cast<double>(*usable_bytes))));
}

Peak PeakProbes::operator()(const std::string& precision, int threads) const {
  if (precision == kCopies) return copy_probe(threads);
  // No library multiplies faster than the plain loop, which needs a tenth of their time.
  if (precision == "fp32")
    if (auto loop = fma_probe(threads); loop.flops_per_s || interrupt_) return loop;
  std::optional<Peak> best;
  const auto scratch = ScratchFolder::below_temp("paceline-peak");
  const auto consider = [&](const Peak& peak) { best = best ? better_of(*best, peak) : peak; };
  for (const auto& [model, operation] : kModels) {
    if (interrupt_) continue;
    auto peak = library_probe(model, precision, threads, scratch.path());
    peak.operation = operation;
    consider(peak);
  }
  return best.value_or(Peak{Number::missing("could not be measured"), {}, {}});
}

Peak PeakProbes::library_probe(const std::string& name, const std::string& precision, int threads,
                               const fs::path& folder) const {
  const auto home = engines_.find(kEngine);
  const auto* model = config::find_model(name);
  if (home.file.empty() || !model) return {Number::missing("no engine to measure it with"), {}, {}};
  auto request = request_for(probe_pass(*model, precision, threads), log_);
  auto& spec = request.spec;
  spec.use(plugin::Role::kEngine, kEngine, home.file.string());
  const PassInfo info{0, 0, fmt::format("{} {} {} threads", name, precision, threads), "peak", 0, 0};
  observer_.pass_begins(info);
  const auto run = [&](const process::WorkerRequest& worker) {
    return process::run_worker(worker, interrupt_, [&](const auto& p) { observer_.progress(p); });
  };
  const pass::InputsTo inputs{{spec.model.inputs, {}, kInputSeed, {}, {}}, folder / name};
  spec.inference.input_files = files_of(inputs);
  auto outcome = run(request_for(inputs_pass(inputs), log_));
  if (outcome.ok) outcome = run(request);
  observer_.pass_ends(info, {});
  if (!outcome.ok) return {Number::missing(outcome.reason), {}, {}};
  const auto& foreign = outcome.report.repetition.foreign_cpu_frac;
  const bool quiet = !foreign || *foreign <= kQuietFrac;
  const auto x = result::durations_ns(outcome.report.samples);
  const double flops = 2.0 * static_cast<double>(model->forward_macs(0)) * static_cast<double>(spec.batch);
  return measured(flops * 1e9 / stats::median(x), x,
                  fmt::format("{} in {}, {} threads, median of {}", name, precision, threads, x.size()),
                  quiet ? "" : " beside busy neighbours, so a lower bound");
}

// A ceiling, too.
Peak PeakProbes::copy_probe(int threads) const {
  const host::SystemFiles files;
  const auto all = copy_bytes(host::last_level_bytes(files, host::current_affinity()),
                              host::usable_bytes(host::read_memory(files)));
  if (!all) return {Number::missing(all.reason()), {}, {}};
  const auto each = *all / 2 / std::max(1, threads);
  const PassInfo info{0, 0, fmt::format("copies {} threads", threads), "peak", 0, 0};
  observer_.pass_begins(info);
  Peak peak{Number::missing("not_measured"), {}, {}};
  try {
    const auto rates = host::measure_copy_rates(threads, static_cast<std::size_t>(each));
    peak = measured(*std::ranges::max_element(rates), rates,
                    fmt::format("copies of {} by {} threads, best of {}",
                                format_bytes(static_cast<double>(each * threads)), threads, rates.size()));
    peak.operation = result::kCopy;
  } catch (const Error& e) {
    peak.flops_per_s = Number::missing(e.what());
  }
  observer_.pass_ends(info, {});
  return peak;
}

// A ceiling: the best repetition counts.
Peak PeakProbes::fma_probe(int threads) const {
  const PassInfo info{0, 0, fmt::format("multiply-adds fp32 {} threads", threads), "peak", 0, 0};
  observer_.pass_begins(info);
  Peak best{Number::missing("the loop of multiply-adds is not written for this CPU"), {}, {}};
  for (const auto& rate : fma_rates(threads, best)) {
    const double most = *std::max_element(rate.flops_per_s.begin(), rate.flops_per_s.end());
    if (best.flops_per_s && *best.flops_per_s >= most) continue;
    best = measured(most, rate.flops_per_s,
                    fmt::format("a plain loop of multiply-adds ({}) in fp32, {} threads, best of {}",
                                rate.instructions, threads, rate.flops_per_s.size()));
  }
  observer_.pass_ends(info, {});
  return best;
}

}  // namespace paceline::run
