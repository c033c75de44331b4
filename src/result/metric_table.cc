// SPDX-License-Identifier: MIT
#include "result/metric_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <set>

#include "base/text.h"
#include "result/figures/device_figures.h"
#include "result/figures/new_shapes.h"
#include "result/figures/peak_memory.h"
#include "result/figures/picture_parts.h"
#include "result/figures/summarize.h"
#include "result/judged/shared_work.h"
#include "result/judged/training_scaling.h"
#include "stats/interval.h"

namespace paceline::result {
namespace {

MetricValue plain(const Number& number, double scale = 1) {
  if (!number) return {{}, {}, {}, number.reason()};
  return {*number * scale, {}, {}, {}};
}
MetricValue plain(const Count& count, double scale = 1) {
  if (!count) return {{}, {}, {}, count.reason()};
  return {static_cast<double>(*count) * scale, {}, {}, {}};
}
std::optional<double> scaled(const Number& number, double scale) {
  return number ? std::optional(*number * scale) : std::nullopt;
}
MetricValue estimate(const Estimate& e, double scale = 1) {
  MetricValue v = plain(e.value, scale);
  v.ci_low = scaled(e.ci_low, scale);
  v.ci_high = scaled(e.ci_high, scale);
  v.estimated = true;
  return v;
}

constexpr double kToMs = 1e-6;
constexpr double kToMb = 1e-6;
constexpr double kToGflops = 1e-9;

template <const char* Name, Number DevicePart::*Field>
MetricValue device_part(const CaseResult& c) {
  for (const auto& part : c.device_parts)
    if (part.name == Name) return plain(part.*Field, kToMs);
  return {{}, {}, {}, c.device_parts.empty() ? "the engine has no device clock" : "nothing is copied"};
}

template <const std::string_view& Name>
MetricValue picture_part(const CaseResult& c) {
  for (const auto& part : c.picture_parts)
    if (part.name == Name) return estimate(part.p50_ns, kToMs);
  return {{}, {}, {}, "no picture was read (image_dir)"};
}

// Pipelined blocks have no per-inference latency.
MetricValue of_latency(const CaseResult& c, MetricValue value) {
  if (c.benchmark.timing_mode != stats::kPipelined) return value;
  return {{}, {}, {}, "blocks of inferences were timed; back_to_back_ms is the time per inference"};
}

const Number* part_p50(const CaseResult& c, std::string_view name) {
  for (const auto& part : c.device_parts)
    if (part.name == name) return &part.p50_ns;
  return nullptr;
}

// Device time of a block is from its first model to its last, with all copies but those of one inference.
double share_of_copies_between(const CaseResult& c) {
  const auto block = c.effective_settings.find("inferences_per_block");
  const auto count = block == c.effective_settings.end() ? std::nullopt : parse_int(block->second);
  return count && *count > 1 ? 1 - 1 / static_cast<double>(*count) : 1;
}

// One after the other, the parts of an inference take as long as the device does.
MetricValue hidden_copies(const CaseResult& c) {
  if (c.benchmark.timing_mode != stats::kPipelined) return {{}, {}, {}, "each inference was waited for"};
  const auto *h2d = part_p50(c, kH2d), *model = part_p50(c, kDeviceCompute), *d2h = part_p50(c, kD2h);
  if (!model || !c.device_p50_ns.value) return {{}, {}, {}, "the engine has no device clock"};
  const double copies = ((h2d ? **h2d : 0) + (d2h ? **d2h : 0)) * share_of_copies_between(c);
  if (copies <= 0) return {{}, {}, {}, "nothing is copied"};
  return {std::clamp((copies + **model - *c.device_p50_ns.value) / copies, 0.0, 1.0), {}, {}, {}};
}

template <int Ppm>
MetricValue quantile(const CaseResult& c) {
  for (const auto& q : c.stats.quantiles)
    if (std::lround(q.p * 1e6) == Ppm)
      return of_latency(c,
                        estimate({q.value_ns, q.ci_low_ns, q.ci_high_ns, q.confidence, q.ci_method}, kToMs));
  return of_latency(c, {{}, {}, {}, "not_measured"});
}

constexpr char kQueue[] = "queue", kInput[] = "input", kCompute[] = "compute", kOutput[] = "output";
constexpr char kNoLoad[] = "one request at a time (scenario sync)";

template <Number Load::*Field>
MetricValue load_number(const CaseResult& c) {
  return c.load() ? plain((*c.load()).*Field) : MetricValue{{}, {}, {}, kNoLoad};
}
template <Number Load::*Field>
MetricValue load_number_ms(const CaseResult& c) {
  return c.load() ? plain((*c.load()).*Field, kToMs) : MetricValue{{}, {}, {}, kNoLoad};
}
// The limit lies between a rate that holds and, where one was found, a rate that misses.
MetricValue capacity(const CaseResult& c) {
  if (!c.load()) return {{}, {}, {}, kNoLoad};
  const auto& found = c.load()->capacity;
  MetricValue v = plain(found.per_s);
  if (!v.value) return v;
  v.ci_low = v.value;
  v.ci_high = scaled(found.missed_per_s, 1);
  v.at_least = !v.ci_high;
  return v;
}
template <const char* Name>
MetricValue stage_mean(const CaseResult& c) {
  if (!c.load()) return {{}, {}, {}, kNoLoad};
  for (const auto& stage : c.load()->stages)
    if (stage.name == Name) return plain(stage.mean_ns, kToMs);
  return {{}, {}, {}, "not a stage of this case"};
}

constexpr char kNoCollective[] = "not a collective case";
constexpr double kToUs = 1e-3;

bool has_sizes(const CaseResult& c) {
  return c.collective() && !c.collective()->sizes.empty();
}
MetricValue bus_bandwidth(const CaseResult& c) {
  if (!has_sizes(c)) return {{}, {}, {}, kNoCollective};
  return estimate(c.collective()->sizes.back().out_of_place.sync_busbw_gb_per_s);
}
MetricValue small_latency(const CaseResult& c) {
  if (!has_sizes(c)) return {{}, {}, {}, kNoCollective};
  return estimate(c.collective()->sizes.front().out_of_place.sync_ns, kToUs);
}

constexpr char kNoTraining[] = "not a training case";
constexpr double kToS = 1e-9;

template <Number Training::*Field>
MetricValue training_number(const CaseResult& c) {
  return c.training() ? plain((*c.training()).*Field) : MetricValue{{}, {}, {}, kNoTraining};
}
// One rank without DDP waits for nobody, unless it is one of several that was recorded alone.
template <Number Training::*Field>
MetricValue waiting_share(const CaseResult& c) {
  const bool alone = c.training() && !c.training()->ddp && c.training()->ranks.size() == 1 &&
                     !c.benchmark.params.contains(kTraces);
  return alone ? MetricValue{0.0, {}, {}, {}} : training_number<Field>(c);
}
// Communication and waiting apart: nothing tells them apart in the recording of one rank of several.
template <Number Training::*Field>
MetricValue share_apart(const CaseResult& c) {
  if (c.training() && c.training()->ranks.size() == 1 && c.benchmark.params.contains(kTraces))
    return {{}, {}, {}, "one rank alone was recorded: its communication includes waiting for others"};
  return waiting_share<Field>(c);
}
MetricValue total_s(const CaseResult& c) {
  return c.training() ? plain(c.training()->total_ns, kToS) : MetricValue{{}, {}, {}, kNoTraining};
}
// From the last epoch that has one.
MetricValue eval_accuracy(const CaseResult& c) {
  if (!c.training()) return {{}, {}, {}, kNoTraining};
  const auto& epochs = c.training()->epochs;
  const auto last = std::find_if(epochs.rbegin(), epochs.rend(),
                                 [](const EpochFigures& e) { return static_cast<bool>(e.eval_samples); });
  return plain(last == epochs.rend() ? EpochFigures{}.eval_accuracy : last->eval_accuracy);
}
// From the last epoch that has one.
MetricValue train_accuracy(const CaseResult& c) {
  if (!c.training()) return {{}, {}, {}, kNoTraining};
  const auto& epochs = c.training()->epochs;
  return epochs.empty() ? MetricValue{{}, {}, {}, "no epoch"} : plain(epochs.back().accuracy);
}
MetricValue efficiency(const CaseResult& c) {
  if (!c.training() && !replicas_of(c.benchmark)) return {{}, {}, {}, kNoTraining};
  if (!c.scaling)
    return {{},
            {},
            {},
            c.training() ? "no case of fewer ranks with the same work per rank"
                         : "no case of fewer GPUs or instances with the same work for each"};
  const std::string doubt = scaling_doubt(c);
  return doubt.empty() ? estimate(efficiency_of(c)) : MetricValue{{}, {}, {}, doubt};
}
MetricValue tokens_per_s(const CaseResult& c) {
  if (!c.training()) return {{}, {}, {}, kNoTraining};
  const auto length = c.benchmark.params.find("sequence_length");
  if (length == c.benchmark.params.end()) return {{}, {}, {}, "the model has no tokens"};
  const auto tokens = parse_double(length->second);
  if (!tokens || *tokens <= 0) return {{}, {}, {}, "sequence_length is no positive number"};
  return estimate(c.throughput.per_s, *tokens);
}

MetricValue new_shape(const CaseResult& c) {
  Number longest = Number::missing("no new shape was run (new_shapes)");
  for (const auto& one : new_shapes(c))
    if (!longest || (one.first_ns && *one.first_ns > *longest)) longest = one.first_ns;
  return plain(longest, kToMs);
}

// A speed-up that may not be claimed is missing, with the reason.
MetricValue claimed_speedup(const CaseResult& c) {
  const std::string reason = no_claim_reason(c);
  return reason.empty() ? estimate(c.speedup.ratio) : MetricValue{{}, {}, {}, reason};
}

MetricValue top1_agreement(const CaseResult& c) {
  return estimate(c.correctness.top1);
}

using OfDevice = Number (*)(const DeviceState&);

template <OfDevice Get, DeviceSum Sum>
MetricValue over_devices(const CaseResult& c) {
  return plain(summed_over_devices(c, Get, Sum));
}
template <Number DeviceState::*Field, DeviceSum Sum>
MetricValue of_devices(const CaseResult& c) {
  return plain(summed_over_devices(
      c, [](const DeviceState& d) { return d.*Field; }, Sum));
}

template <Number DeviceState::*Field>
Number device_energy(const DeviceState& d) {
  return of_long_windows(d.*Field, d.energy_window_s);
}

// As its ranks say, or its CPUs; a case without ranks says nothing, and has one.
std::int64_t hosts_of_case(const CaseResult& c) {
  std::set<std::string> hosts;
  if (c.training())
    for (const auto& rank : c.training()->ranks) hosts.insert(rank.host);
  if (c.collective())
    for (const auto& rank : c.collective()->ranks) hosts.insert(rank.host);
  return std::max(std::ssize(hosts), std::ranges::count(c.cpu_power, kCpuPackages, &CpuPower::part));
}

// Over the hosts of a case; missing where one of them has no figure.
template <const std::string_view& Part, Number (*Get)(const CpuPower&), DeviceSum Sum>
MetricValue of_cpu_power(const CaseResult& c) {
  Number all = Number::missing("no sampler read it; `paceline validate` says whether it can be read here");
  std::int64_t read = 0;
  for (const auto& one : c.cpu_power) {
    if (one.part != Part) continue;
    const auto figure = Get(one);
    if (!figure) return plain(figure);
    all = read == 0 ? figure : Sum == DeviceSum::kLargest ? std::max(*all, *figure) : *all + *figure;
    ++read;
  }
  const auto hosts = hosts_of_case(c);
  return plain(
      read == 0 || read == hosts
          ? all
          : Number::missing(fmt::format("it was read on {} of the {} hosts of the case", read, hosts)));
}
template <Number CpuPower::*Field>
Number cpu_energy(const CpuPower& one) {
  return of_long_windows(one.*Field, one.energy_window_s);
}
template <Number CpuPower::*Field>
Number of_cpu(const CpuPower& one) {
  return one.*Field;
}

constexpr Better kLow = Better::kLower, kHigh = Better::kHigher, kNone = Better::kNeither;

constexpr std::array kMetrics{
    Metric{"p50_ms", "p50", "ms", kLow,
           "Median latency of one inference, or median time of one training step; with six or more processes "
           "the interval is over the per-process medians.",
           topics::kLatencyQuantiles,
           [](const CaseResult& c) { return of_latency(c, estimate(c.headline.p50_ns, kToMs)); }},
    Metric{"p90_ms", "p90", "ms", kLow, "90th percentile of latency over all samples (nearest rank).",
           topics::kLatencyQuantiles, quantile<900000>},
    Metric{"p95_ms", "p95", "ms", kLow, "95th percentile of latency over all samples (nearest rank).",
           topics::kLatencyQuantiles, quantile<950000>},
    Metric{"p99_ms", "p99", "ms", kLow,
           "99th percentile of latency over all samples (nearest rank); needs 368 independent samples.",
           topics::kLatencyQuantiles, quantile<990000>},
    Metric{"mean_ms", "mean", "ms", kLow, "Arithmetic mean of latency.", topics::kMeanMinMax,
           [](const CaseResult& c) { return of_latency(c, plain(c.stats.mean_ns, kToMs)); }},
    Metric{"min_ms", "min", "ms", kLow, "Smallest latency seen.", topics::kMeanMinMax,
           [](const CaseResult& c) { return of_latency(c, plain(c.stats.min_ns, kToMs)); }},
    Metric{"max_ms", "max", "ms", kLow, "Largest latency seen; no sample is dropped.", topics::kMeanMinMax,
           [](const CaseResult& c) { return of_latency(c, plain(c.stats.max_ns, kToMs)); }},
    Metric{"mad_ms", "MAD", "ms", kLow, "Median absolute deviation from the median.", topics::kMeanMinMax,
           [](const CaseResult& c) { return of_latency(c, plain(c.stats.mad_ns, kToMs)); }},
    Metric{"device_p50_ms", "device p50", "ms", kLow,
           "Median time of one inference on the device's own clock, copies left out; CUDA only.",
           topics::kDeviceTime, [](const CaseResult& c) { return estimate(c.device_p50_ns, kToMs); }},
    Metric{"device_share", "of wall time", "1", kNone,
           "Median device time over median wall time; from 0.95 on the device decides the grade.",
           topics::kDeviceTime, [](const CaseResult& c) { return plain(device_share(c)); }},
    Metric{"sm_clock_mhz", "clock", "MHz", kHigh, "Mean clock of the device; of several the slowest's.",
           topics::kDevices, of_devices<&DeviceState::sm_clock_mean_mhz, DeviceSum::kSmallest>},
    Metric{"sm_clock_min_mhz", "lowest clock", "MHz", kHigh, "Lowest clock that was read of a device.",
           topics::kDevices, of_devices<&DeviceState::sm_clock_min_mhz, DeviceSum::kSmallest>},
    Metric{"gpu_utilization", "GPU busy", "1", kHigh,
           "Share of the time in which a kernel ran, as the driver says; of several devices the smallest.",
           topics::kDevices, of_devices<&DeviceState::utilization_mean, DeviceSum::kSmallest>},
    Metric{"power_w", "power", "W", kLow, "Mean power of the boards together.", topics::kDevices,
           of_devices<&DeviceState::power_mean_w, DeviceSum::kAll>},
    Metric{"power_max_w", "highest power", "W", kLow, "Highest power that was read of a board.",
           topics::kDevices, of_devices<&DeviceState::power_max_w, DeviceSum::kLargest>},
    Metric{"energy_per_item_j", "energy", "J/item", kLow,
           "Energy of the boards in timed windows of 10 s or more over the items done in them; idle is not "
           "subtracted.",
           topics::kDevices, over_devices<device_energy<&DeviceState::energy_per_item_j>, DeviceSum::kAll>},
    Metric{"energy_above_idle_j", "energy above idle", "J/item", kLow,
           "The same without what the boards drew before the first process of the run.", topics::kDevices,
           over_devices<device_energy<&DeviceState::energy_above_idle_per_item_j>, DeviceSum::kAll>},
    Metric{"cpu_power_w", "CPU power", "W", kLow, "Mean power of the CPU packages of the hosts together.",
           topics::kCpuPower, of_cpu_power<kCpuPackages, of_cpu<&CpuPower::power_mean_w>, DeviceSum::kAll>},
    Metric{"cpu_power_max_w", "highest CPU power", "W", kLow,
           "Highest power of the packages of a host between two readings.", topics::kCpuPower,
           of_cpu_power<kCpuPackages, of_cpu<&CpuPower::power_max_w>, DeviceSum::kLargest>},
    Metric{"cpu_energy_per_item_j", "CPU energy", "J/item", kLow,
           "Energy of the CPU packages in timed windows of 10 s or more over the items done in them.",
           topics::kCpuPower,
           of_cpu_power<kCpuPackages, cpu_energy<&CpuPower::energy_per_item_j>, DeviceSum::kAll>},
    Metric{"cpu_energy_above_idle_j", "CPU energy above idle", "J/item", kLow,
           "The same without what the packages drew before the first process of the run.", topics::kCpuPower,
           of_cpu_power<kCpuPackages, cpu_energy<&CpuPower::energy_above_idle_per_item_j>, DeviceSum::kAll>},
    Metric{"dram_energy_per_item_j", "memory energy", "J/item", kLow,
           "Energy of the memory of the packages in the same windows, over the items done in them.",
           topics::kCpuPower,
           of_cpu_power<kCpuMemory, cpu_energy<&CpuPower::energy_per_item_j>, DeviceSum::kAll>},
    Metric{"temperature_max_c", "temperature", "°C", kLow, "Highest temperature that was read of a device.",
           topics::kDevices, of_devices<&DeviceState::temperature_max_c, DeviceSum::kLargest>},
    Metric{"power_cap_share", "power cap", "1", kLow,
           "Share of the readings in which a device was at its power cap; the largest of the devices.",
           topics::kDevices, over_devices<power_cap_share, DeviceSum::kLargest>},
    Metric{"slowdown_share", "slowed down", "1", kLow,
           "The same for heat, power brake and hardware slowdown.", topics::kDevices,
           over_devices<slowdown_share, DeviceSum::kLargest>},
    Metric{"device_p99_ms", "device p99", "ms", kLow,
           "99th percentile of the time of one inference's model on the device's own clock.",
           topics::kDeviceTime, device_part<kDeviceCompute, &DevicePart::p99_ns>},
    Metric{"back_to_back_ms", "back to back", "ms", kLow,
           "Time per inference where inferences are enqueued back to back and waited for at once (timing: "
           "pipelined); no latency. With six or more processes the interval is over the per-process medians.",
           topics::kBackToBack,
           [](const CaseResult& c) {
             return c.benchmark.timing_mode == stats::kPipelined
                        ? estimate(c.back_to_back_ns, kToMs)
                        : MetricValue{{}, {}, {}, "each inference was waited for"};
           }},
    Metric{"enqueue_p50_ms", "enqueue p50", "ms", kLow,
           "Median host time of starting one inference on a device.", topics::kPartsOfATime,
           device_part<kEnqueue, &DevicePart::p50_ns>},
    Metric{"enqueue_p99_ms", "enqueue p99", "ms", kLow, "99th percentile of the same.", topics::kPartsOfATime,
           device_part<kEnqueue, &DevicePart::p99_ns>},
    Metric{"h2d_p50_ms", "H2D p50", "ms", kLow,
           "Median time of an inference's copies from host to device, on the device's clock.",
           topics::kPartsOfATime, device_part<kH2d, &DevicePart::p50_ns>},
    Metric{"h2d_p99_ms", "H2D p99", "ms", kLow, "99th percentile of the same.", topics::kPartsOfATime,
           device_part<kH2d, &DevicePart::p99_ns>},
    Metric{"d2h_p50_ms", "D2H p50", "ms", kLow,
           "Median time of an inference's copies from device to host, on the device's clock.",
           topics::kPartsOfATime, device_part<kD2h, &DevicePart::p50_ns>},
    Metric{"d2h_p99_ms", "D2H p99", "ms", kLow, "99th percentile of the same.", topics::kPartsOfATime,
           device_part<kD2h, &DevicePart::p99_ns>},
    Metric{"hidden_copies_share", "copies hidden", "1", kHigh,
           "Share of the copies' time that passed beside models of other inferences (timing: pipelined).",
           topics::kHiddenCopies, hidden_copies},
    Metric{"samples", "n", "1", kNone, "Timed samples over all repetitions.", topics::kSamples,
           [](const CaseResult& c) -> MetricValue {
             return {static_cast<double>(c.stats.n), {}, {}, {}};
           }},
    Metric{"highest_claimable_p", "highest p", "1", kNone,
           "The highest quantile the effective sample size can carry with a 95 % interval.",
           topics::kHighestQuantile, [](const CaseResult& c) { return plain(c.stats.highest_claimable_p); }},
    Metric{"throughput_per_s", "throughput", "items/s", kHigh,
           "Items completed per second in the steady window.", topics::kThroughput,
           [](const CaseResult& c) { return estimate(c.throughput.per_s); }},
    Metric{"speedup", "vs baseline", "1", kHigh,
           "Time of the baseline case over time of this case, median over interleaved process pairs.",
           topics::kSpeedUp, claimed_speedup},
    Metric{"first_iteration_ms", "first", "ms", kLow,
           "Duration of the first inference of a fresh process; median over repetitions.",
           topics::kFirstIteration, [](const CaseResult& c) { return plain(c.first_iteration_ns, kToMs); }},
    Metric{"new_shape_ms", "new shape", "ms", kLow,
           "Longest first inference of a shape that the loaded model had not seen (new_shapes); median over "
           "processes.",
           topics::kFirstIteration, new_shape},
    Metric{"load_ms", "load", "ms", kLow,
           "Time to load, build and optimise the model; median over repetitions.", topics::kFirstIteration,
           [](const CaseResult& c) { return plain(c.load_ns, kToMs); }},
    Metric{"prepare_ms", "prepare", "ms", kLow,
           "Time to write the model file that the engine reads, once before anything is timed.",
           topics::kModelFile, [](const CaseResult& c) { return plain(c.model_file.prepare_ns, kToMs); }},
    Metric{"decode_ms", "decode", "ms", kLow,
           "Median time to read and decode a picture of image_dir, on one thread; in no latency.",
           topics::kPictures, picture_part<kDecode>},
    Metric{"resize_ms", "resize", "ms", kLow, "Median time to resize that picture; in no latency.",
           topics::kPictures, picture_part<kResize>},
    Metric{"normalise_ms", "normalise", "ms", kLow,
           "Median time to cut its middle out and scale its pixels; in no latency.", topics::kPictures,
           picture_part<kNormalise>},
    Metric{"model_mb", "file", "MB", kLow, "Size of the model file that the engine reads.",
           topics::kModelFile, [](const CaseResult& c) { return plain(c.model_file.size_bytes, kToMb); }},
    Metric{"memory_mb", "memory", "MB", kLow,
           "Memory that the case needs: on a device what tensors held of its memory, or device_used_mb where "
           "the engine does not report it; else host_memory_mb.",
           topics::kMemory, [](const CaseResult& c) { return plain(peak_memory(c), kToMb); }},
    Metric{"host_memory_mb", "host memory", "MB", kLow,
           "Peak resident memory of the worker above its state before load; largest over repetitions.",
           topics::kMemory,
           [](const CaseResult& c) { return plain(c.memory.rss_peak_above_load_bytes, kToMb); }},
    Metric{"tensor_memory_mb", "tensors", "MB", kLow,
           "High-water mark of the engine's own tensor allocator during one inference.", topics::kMemory,
           [](const CaseResult& c) { return plain(c.memory.tensor_peak_bytes, kToMb); }},
    Metric{"reserved_memory_mb", "reserved", "MB", kLow,
           "Most memory that the engine's caching allocator held of its device during that inference.",
           topics::kMemory, [](const CaseResult& c) { return plain(c.memory.reserved_peak_bytes, kToMb); }},
    Metric{"device_used_mb", "used", "MB", kLow,
           "Most memory that the driver says was in use on a device, other processes included.",
           topics::kDeviceMemory, over_devices<memory_used_mb, DeviceSum::kLargest>},
    Metric{"achieved_gflops_per_s", "achieved", "GFLOP/s", kHigh,
           "Model FLOPs per second at the median latency; in the load scenarios at the throughput.",
           topics::kFlops,
           [](const CaseResult& c) { return plain(c.flops.achieved_flops_per_s, kToGflops); }},
    Metric{"share_of_peak", "of peak", "1", kHigh,
           "Achieved FLOP/s over the best matrix product or convolution measured on this machine.",
           topics::kFlops, [](const CaseResult& c) { return plain(c.flops.share_of_measured_peak); }},

    Metric{"share_of_datasheet_peak", "of datasheet peak", "1", kHigh,
           "Achieved FLOPs over what the GPU's datasheet says of dense products in this precision.",
           topics::kFlops, [](const CaseResult& c) { return plain(c.flops.share_of_datasheet_peak); }},
    Metric{"saturation_per_s", "saturation", "1/s", kHigh,
           "Server: requests per second with every lane always in use, measured before the schedule; the "
           "lowest of the processes.",
           topics::kLoad, load_number<&Load::saturation_per_s>},
    Metric{"offered_per_s", "offered", "1/s", kNone, "Server: requests per second of the schedule.",
           topics::kLoad, load_number<&Load::offered_per_s>},
    Metric{"capacity_per_s", "capacity", "1/s", kHigh,
           "Server with slo and no rate: the highest rate that was seen to hold the objective; the lowest of "
           "the processes. Its interval ends at the lowest rate above it that missed; without one the "
           "capacity is at least so much.",
           topics::kLoad, capacity},
    Metric{"utilization", "load", "1", kNone,
           "Server: offered rate over saturation rate; the highest of the processes.", topics::kLoad,
           load_number<&Load::utilization>},
    Metric{"completed_frac", "completed", "1", kHigh,
           "Server: share of the offered requests that were completed; the lowest of the processes.",
           topics::kLoad, load_number<&Load::completed_frac>},
    Metric{"queue_mean_ms", "queue", "ms", kLow,
           "Server: mean time from the scheduled arrival to the start of service.", topics::kLoad,
           stage_mean<kQueue>},
    Metric{"input_mean_ms", "input", "ms", kLow,
           "Server: mean time to hand the inputs over to the engine, copies and conversions included.",
           topics::kLoad, stage_mean<kInput>},
    Metric{"compute_mean_ms", "compute", "ms", kLow, "Server: mean time of the inference itself.",
           topics::kLoad, stage_mean<kCompute>},
    Metric{"output_mean_ms", "output", "ms", kLow,
           "Server: mean time to copy the outputs out of the engine's memory.", topics::kLoad,
           stage_mean<kOutput>},
    Metric{"mean_batch", "batch", "1", kNone,
           "Server with max_batch: requests an inference served, on average over the inferences.",
           topics::kLoad, load_number<&Load::mean_batch>},
    Metric{"issue_delay_p50_ms", "issue delay p50", "ms", kLow,
           "Server: median of how late a free lane noticed a request; the largest of the processes.",
           topics::kLoad, load_number_ms<&Load::issue_delay_p50_ns>},
    Metric{"issue_delay_p99_ms", "issue delay", "ms", kLow,
           "Server: 99th percentile of how late a free lane noticed a request; the largest of the processes.",
           topics::kLoad, load_number_ms<&Load::issue_delay_p99_ns>},
    Metric{"issue_delay_max_ms", "issue delay max", "ms", kLow,
           "Server: the latest that a free lane noticed a request, in any process.", topics::kLoad,
           load_number_ms<&Load::issue_delay_max_ns>},
    Metric{"tokens_per_s", "tokens", "1/s", kHigh,
           "Training of language models: tokens per second, throughput times the length of a sequence.",
           topics::kTrainingThroughput, tokens_per_s},
    Metric{
        "efficiency", "efficiency", "1", kHigh,
        "Training: median step time of the smallest world over that of this one, with the same work per "
        "rank. "
        "Inference on several GPUs or instances: throughput per GPU or instance over that with the fewest.",
        topics::kEfficiency, efficiency},
    Metric{"exposed_share", "exposed", "1", kLow,
           "Training with DDP: share of the mean step in which the typical rank waits for communication "
           "that the backward pass did not hide, or for late ranks.",
           topics::kPartsOfAStep, waiting_share<&Training::exposed_share>},
    Metric{"communication_share", "communication", "1", kLow,
           "Training with DDP: share of the mean step in which gradients are exchanged after every rank was "
           "ready.",
           topics::kPartsOfAStep, share_apart<&Training::communication_share>},
    Metric{"straggler_wait_share", "late ranks", "1", kLow,
           "Training with DDP: share of the mean step in which the typical rank waits for late ones.",
           topics::kPartsOfAStep, share_apart<&Training::straggler_wait_share>},
    Metric{"overlap_ratio", "overlap", "1", kHigh,
           "Training with DDP: share of the exchange of gradients that the backward pass hid.",
           topics::kPartsOfAStep, training_number<&Training::overlap_ratio>},
    Metric{"data_wait_share", "data wait", "1", kLow,
           "Training: share of the mean step in which the typical rank waits for data.",
           topics::kPartsOfAStep, training_number<&Training::data_wait_share>},
    Metric{"straggler_index", "straggler", "1", kLow,
           "Training: longest compute time of a rank over the median rank's, median over steps.",
           topics::kStragglers, training_number<&Training::straggler_index>},
    Metric{"sync_variation", "sync p95/p50", "1", kLow,
           "Training: p95 over p50 of exposed communication over the steps.", topics::kStragglers,
           training_number<&Training::sync_variation>},
    Metric{"loss", "loss", "1", kLow, "Training: loss of the last step, mean over the ranks.", topics::kLoss,
           training_number<&Training::last_loss>},
    Metric{"train_accuracy", "train accuracy", "1", kHigh,
           "Training: share of right first answers in the last epoch, while the weights change.",
           topics::kLoss, train_accuracy},
    Metric{"eval_accuracy", "held-out accuracy", "1", kHigh,
           "Training: share of right first answers on data that are not trained on, after the last epoch "
           "that was followed by a look at them.",
           topics::kLoss, eval_accuracy},
    Metric{"total_s", "total", "s", kLow,
           "Training: from the start of the first step to the end of the last.", topics::kTrainingThroughput,
           total_s},
    Metric{"loader_per_s", "loader", "1/s", kHigh,
           "Training: samples per second that the loaders of all ranks could deliver.",
           topics::kTrainingThroughput, training_number<&Training::loader_samples_per_s>},
    Metric{"busbw_gb_per_s", "bus bandwidth", "GB/s", kHigh,
           "Collectives: bus bandwidth of the largest size, out of place, operations one by one; 10^9 bytes.",
           topics::kCollectives, bus_bandwidth},
    Metric{"small_latency_us", "small latency", "us", kLow,
           "Collectives: median time of the smallest size, out of place, of the slowest rank.",
           topics::kCollectives, small_latency},
    Metric{"max_rel_err", "max error", "1", kLow,
           "Largest output difference to the FP32 reference over the reference's largest magnitude.",
           topics::kAccuracy, [](const CaseResult& c) { return plain(c.correctness.max_rel_err); }},
    Metric{"max_abs_err", "max difference", "1", kLow,
           "Largest output difference to the FP32 reference, in the output's own unit.", topics::kAccuracy,
           [](const CaseResult& c) { return plain(c.correctness.max_abs_err); }},
    Metric{"cosine", "cosine", "1", kHigh,
           "Cosine of outputs and reference; worst sample. Near 1 whatever happens where weights are random.",
           topics::kAccuracy, [](const CaseResult& c) { return plain(c.correctness.cosine); }},
    Metric{"centred_cosine", "centred cosine", "1", kHigh,
           "Cosine of outputs and reference after removing the batch-mean output; worst sample.",
           topics::kAccuracy, [](const CaseResult& c) { return plain(c.correctness.centred_cosine); }},
    Metric{"kl_nats", "KL", "nats", kLow,
           "Kullback-Leibler divergence of the output's softmax from the reference's; mean over rows.",
           topics::kAgreement, [](const CaseResult& c) { return plain(c.correctness.kl_nats); }},
    Metric{"top1_agreement", "top-1 kept", "1", kHigh,
           "Share of distinct inputs with the same top-1 answer as the reference.", topics::kAgreement,
           top1_agreement},
    Metric{"top5_agreement", "top-5 kept", "1", kHigh,
           "Share of distinct inputs whose reference top-1 answer is among the five largest outputs.",
           topics::kAgreement, [](const CaseResult& c) { return estimate(c.correctness.top5); }},
    Metric{"next_token_agreement", "tokens kept", "1", kHigh,
           "Share of positions with the same next token as the reference; a sequence is one observation.",
           topics::kAgreement, [](const CaseResult& c) { return estimate(c.correctness.next_token); }},
    Metric{"top1_accuracy", "top-1 accuracy", "1", kHigh, "Share of labelled inputs answered rightly.",
           topics::kChangeOfAccuracy,
           [](const CaseResult& c) { return estimate(c.correctness.labelled.top1); }},
    Metric{"top1_change", "top-1 change", "1", kHigh,
           "Top-1 accuracy minus that of the reference on the same labelled inputs.",
           topics::kChangeOfAccuracy,
           [](const CaseResult& c) { return estimate(c.correctness.labelled.change); }},
    Metric{"within_spread", "within", "1", kLow,
           "Spread inside one process: 1.4826 MAD / median; median over processes.", topics::kSpread,
           [](const CaseResult& c) { return plain(c.headline.within_spread); }},
    Metric{"between_spread", "between", "1", kLow, "Spread of the per-process medians: 1.4826 MAD / median.",
           topics::kSpread, [](const CaseResult& c) { return plain(c.headline.between_spread); }},
    Metric{"overhead_fraction", "harness", "1", kLow,
           "Cost of the measuring loop itself as a share of the median; reported, never subtracted.",
           topics::kHarness, [](const CaseResult& c) { return plain(c.overhead.overhead_fraction); }},
    Metric{"foreign_cpu_frac", "foreign CPU", "1", kLow,
           "Share of the machine's CPU time that other processes used while the case ran.", topics::kNoise,
           [](const CaseResult& c) { return plain(c.noise.foreign_cpu_frac); }},
    Metric{"cross_check_ratio", "vs own tool", "1", kLow,
           "Time of one inference through Paceline over that in the engine's own tool, median over pairs of "
           "processes.",
           topics::kCrossCheck, [](const CaseResult& c) { return estimate(c.cross_check.ratio); }},
};

}  // namespace

std::span<const Metric> metrics() {
  return kMetrics;
}

const Metric* find_metric(std::string_view name) {
  for (const auto& metric : kMetrics)
    if (metric.name == name) return &metric;
  return nullptr;
}

}  // namespace paceline::result
