// SPDX-License-Identifier: MIT
#include "run/case/case_time.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>

#include "config/vocabulary.h"
#include "host/machine/cpu.h"
#include "host/machine/cpu_choice.h"
#include "run/case/model_parts.h"

namespace paceline::run {
namespace {

struct Range {
  double low, high;
  [[nodiscard]] double at(End end) const { return end == End::kLow ? low : high; }
};

// Factors of a time by multiply-adds, and of a stored one.
constexpr Range kOfModel{0.5, 2}, kOfStored{0.8, 1.25};
// Multiply-adds per weight of a file: a matrix that meets one vector, convolutions over a picture.
constexpr Range kWorkPerWeight{1, 200};
constexpr Range kLeastBatchS{20e-6, 1e-3}, kWorkerStartS{0.5, 2.5}, kBesideS{0.5, 6};
constexpr double kBytesOfWeight = 4;

// Share of the nominal speed that models reach; small ones spend their time between operators.
constexpr double kReached = 0.4, kReachedBySmall = 0.05, kSmallMacs = 1e8;
constexpr double kClockHz = 2.5e9;

struct VectorUnit {
  std::string_view isa;
  double flops_per_cycle;  // of a core in fp32
};
constexpr std::array<VectorUnit, 3> kVectorUnits{{{"avx512f", 64}, {"avx2", 32}, {"", 16}}};

// Nominal, so that a busy moment of the machine does not change it.
double core_flops_per_s() {
  static const auto kCpu = host::read_cpu();
  const auto* unit = std::ranges::find_if(
      kVectorUnits, [](const auto& row) { return row.isa.empty() || kCpu.has_isa(row.isa); });
  return unit->flops_per_cycle * kClockHz;
}

double flops_per_s(const config::Case& c, double macs) {
  const auto asked = c.settings.has("threads") ? c.settings.integer("threads") : 0;
  const auto allowed = static_cast<std::int64_t>(host::allowed_cpus().size());
  const auto threads = asked > 0 ? std::min(asked, allowed) : allowed;
  return core_flops_per_s() * static_cast<double>(threads) * (macs < kSmallMacs ? kReachedBySmall : kReached);
}

// Multiply-adds of a sample.
double macs_of(const config::Case& c, End end) {
  const auto& name = c.settings.text("model");
  const auto* model = config::find_model(name);
  if (!model) return kWorkPerWeight.at(end) * static_cast<double>(size_of_parts(name)) / kBytesOfWeight;
  const std::int64_t length = c.settings.has("sequence_length") ? c.settings.integer("sequence_length")
                                                                : model->default_sequence_length;
  return static_cast<double>(model->forward_macs(length));
}

// Samples until the interval of a median is as narrow as asked: its half-width is about 2.5 standard
// deviations over the root of their number, and a quiet machine varies by 5 %.
double samples_wanted(const config::Settings& s) {
  constexpr double kWidths = 2.5, kVariation = 0.05;
  const double fewest = static_cast<double>(s.integer("stop.n_min"));
  if (!s.has("stop.rel_halfwidth_p50")) return fewest;
  return std::max(fewest, std::pow(kWidths * kVariation / s.number("stop.rel_halfwidth_p50"), 2));
}

}  // namespace

double seconds_beside(End end) {
  return kBesideS.at(end);
}

double worker_start_s(const Pace& pace) {
  return pace.stored ? pace.stored->start_s * kOfStored.at(pace.end) : kWorkerStartS.at(pace.end);
}

std::optional<double> stored_iteration_s(const Pace& pace) {
  if (!pace.stored) return std::nullopt;
  return pace.stored->iteration_s * kOfStored.at(pace.end);
}

double forward_seconds(const config::Case& c, End end) {
  const double macs = macs_of(c, end);
  const double batch = static_cast<double>(c.settings.integer("batch"));
  return std::max(kLeastBatchS.at(end), 2.0 * macs * batch / flops_per_s(c, macs) * kOfModel.at(end));
}

bool is_guessed(const config::Case& c) {
  return c.not_available.empty() && c.settings.has("model") && !config::find_model(c.settings.text("model"));
}

double seconds_by_the_rule(const config::Settings& s, double iteration, Times times) {
  const double most = std::max(s.number("stop.t_max_s"), iteration);
  if (times == Times::kUnsteady) return most;
  return std::min(std::max(s.number("stop.t_min_s"), samples_wanted(s) * iteration), most);
}

}  // namespace paceline::run
