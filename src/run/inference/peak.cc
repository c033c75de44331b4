// SPDX-License-Identifier: MIT
#include "run/inference/peak.h"

#include <fmt/format.h>

#include <ctime>

#include "base/json.h"
#include "base/units.h"
#include "run/case/peak_cache.h"

namespace paceline::run {
namespace {

constexpr const char* kProbes = "probes 5";  // of the keys: peaks of other probes are other peaks
// A case above the probe by more than this does fewer operations than are counted.
constexpr double kPlausible = 2;
// Copies whose rates vary more were disturbed, which says too little for later runs.
constexpr double kSteadyCopies = 0.1;

void write_cache(const std::string& key, const Peak& peak) {
  nlohmann::json entry = {{"flops_per_s", *peak.flops_per_s},
                          {"source", peak.source},
                          {"operation", peak.operation},
                          {"measured_utc", peak.measured_utc}};
  if (peak.spread) entry["spread"] = *peak.spread;
  if (peak.probe_flops_per_s) entry["probe_flops_per_s"] = *peak.probe_flops_per_s;
  keep_in_peak_cache(key, std::move(entry));
}

Peak to_peak(const nlohmann::json& entry) {
  Peak peak{entry["flops_per_s"].get<double>(), Number::missing("not kept"),
            entry["source"].get<std::string>()};
  if (entry.contains("spread") && entry["spread"].is_number()) peak.spread = entry["spread"].get<double>();
  if (entry.contains("probe_flops_per_s") && entry["probe_flops_per_s"].is_number())
    peak.probe_flops_per_s = entry["probe_flops_per_s"].get<double>();
  for (const auto& [name, field] :
       {std::pair("operation", &Peak::operation), std::pair("measured_utc", &Peak::measured_utc)})
    if (entry.contains(name) && entry[name].is_string()) peak.*field = entry[name].get<std::string>();
  return peak;
}

bool is_steady(const Peak& peak) {
  return peak.spread && *peak.spread <= kSteadyCopies;
}

// Rate that its probes measured; 0: none.
double probed(const Peak& peak) {
  return (peak.probe_flops_per_s ? peak.probe_flops_per_s : peak.flops_per_s).value().value_or(0);
}

std::string gflops(double flops_per_s) {
  return fmt::format("{:.0f} GFLOP/s", flops_per_s * 1e-9);
}

}  // namespace

Peak better_of(Peak best, const Peak& other) {
  const bool higher = other.flops_per_s && (!best.flops_per_s || *other.flops_per_s > *best.flops_per_s);
  return higher ? other : best;
}

std::filesystem::path PeakTable::file() {
  return peak_cache_file();
}

PeakTable::PeakTable(std::string machine, MeasurePeak measure)
    : machine_(std::move(machine)), measure_(std::move(measure)) {
  const auto cache = read_peak_cache();
  for (const auto& [key, entry] : cache.items())
    if (entry.contains("flops_per_s") && entry["flops_per_s"].is_number() && entry.contains("source") &&
        entry["source"].is_string())
      known_[key] = to_peak(entry);
}

std::string PeakTable::key(const std::string& precision, int threads) const {
  return fmt::format("{}; {}; {} threads; {}", machine_, arithmetic_of(precision), threads, kProbes);
}

Peak PeakTable::known(const std::string& precision, int threads) const {
  const auto it = known_.find(key(precision, threads));
  if (it != known_.end()) return it->second;
  return {Number::missing("not measured yet"), {}, {}};
}

Peak PeakTable::get(const std::string& precision, int threads) {
  const std::string k = key(precision, threads);
  if (!known_.contains(k)) measure(k, precision, threads);
  return known_.at(k);
}

// The larger of what was known and what is measured now stays.
void PeakTable::measure(const std::string& key, const std::string& precision, int threads) {
  measured_.insert(key);
  const Peak peak = measure_(arithmetic_of(precision), threads);
  const auto it = known_.find(key);
  if (it == known_.end() ||
      (peak.flops_per_s && *peak.flops_per_s > it->second.flops_per_s.value().value_or(0)))
    return keep(key, peak, precision != kCopies || is_steady(peak));
  if (peak.flops_per_s.value().value_or(0) <= probed(it->second)) return;
  Peak raised = it->second;
  raised.probe_flops_per_s = peak.flops_per_s;
  keep(key, raised);
}

void PeakTable::keep(const std::string& key, const Peak& peak, bool for_later_runs) {
  known_[key] = peak;
  if (peak.flops_per_s && for_later_runs) write_cache(key, peak);
}

std::string PeakTable::raise(const std::string& precision, int threads, double flops_per_s,
                             const std::string& label) {
  const std::string k = key(precision, threads);
  const double before = known_.at(k).flops_per_s.value().value_or(0);
  if (!measured_.contains(k)) measure(k, precision, threads);
  const double now = known_.at(k).flops_per_s.value().value_or(0), of_probes = probed(known_.at(k));
  const bool by_case = flops_per_s > now && flops_per_s <= kPlausible * of_probes;
  if (by_case)
    keep(k, {flops_per_s, Number::missing("one figure of a case"),
             fmt::format("reached by {}, {}; probes: {}", label, format_utc(std::time(nullptr)),
                         gflops(of_probes)),
             of_probes, known_.at(k).operation, known_.at(k).measured_utc});
  if (!by_case && now <= before) return {};
  return fmt::format("the peak in {} on {} is raised from {} to {}, {}; it is kept in {}",
                     arithmetic_of(precision), plural(threads, "thread"), gflops(before),
                     gflops(*known_.at(k).flops_per_s),
                     by_case ? "which " + label + " reached" : "measured again", file().string());
}

}  // namespace paceline::run
