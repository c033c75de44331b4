// SPDX-License-Identifier: MIT
// After Matteson and James (2014), E-divisive means; Fleming et al. (2023), Hunter: windows, weak points,
// merge.
#include "stats/change_points.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "stats/median.h"
#include "stats/spread.h"
#include "stats/student_t.h"

namespace paceline::stats {
namespace {

using Values = std::span<const double>;

constexpr double kWeak = 10;            // candidates are found at this many times p
constexpr double kOutlierSigmas = 4;    // of the noise between neighbours
constexpr std::size_t kNeighbours = 3;  // on either side
constexpr double kSigmaOfQuartile = 0.6745;

struct Candidate {
  std::size_t at = 0;  // the first index behind it
  double p = 1;
};

// Noise by the differences of neighbours, which changes of the level hardly move.
double noise_of(Values x) {
  if (x.size() < 2) return 0;
  std::vector<double> steps;
  for (std::size_t i = 1; i < x.size(); ++i) steps.push_back(std::abs(x[i] - x[i - 1]));
  return median(steps) / (kSigmaOfQuartile * std::sqrt(2.0));
}

// Moves single values that lie far beside their neighbours to the limit of the noise. A level that lasts for
// four values is the median of their neighbourhoods, so that it stays.
std::vector<double> without_outliers(Values x) {
  const double limit = kOutlierSigmas * noise_of(x);
  std::vector<double> out(x.begin(), x.end());
  for (std::size_t i = 0; i < x.size(); ++i) {
    const auto from = i < kNeighbours ? 0 : i - kNeighbours;
    const auto to = std::min(i + kNeighbours + 1, x.size());
    const double centre = median(x.subspan(from, to - from));
    out[i] = std::clamp(x[i], centre - limit, centre + limit);
  }
  return out;
}

double squares_around(Values x, double centre) {
  double sum = 0;
  for (const double v : x) sum += (v - centre) * (v - centre);
  return sum;
}

// Two-sided p of equal means, by Student's t with one variance: four values are too few for a variance per
// side.
double p_of_equal_means(Values a, Values b) {
  const auto n = static_cast<double>(a.size()), m = static_cast<double>(b.size());
  const double difference = std::abs(mean(a) - mean(b));
  const double degrees = n + m - 2;
  const double variance = (squares_around(a, mean(a)) + squares_around(b, mean(b))) / degrees;
  constexpr double kRounding = 1e-24;  // of logarithms of equal numbers
  if (variance <= kRounding) return difference * difference <= kRounding ? 1 : 0;
  return 2 * student_t_above(degrees, difference / std::sqrt(variance * (1 / n + 1 / m)));
}

// Sums of distances |x[i] - x[j]|, i < j, of the values before and behind each place.
struct Divisions {
  std::vector<double> left, right, between;
};

Divisions divisions_of(Values x) {
  const auto n = x.size();
  Divisions sums{std::vector<double>(n + 1), std::vector<double>(n + 1), std::vector<double>(n + 1)};
  double all = 0;
  for (std::size_t i = 0; i < n; ++i) {
    double to_earlier = 0;
    for (std::size_t j = 0; j < i; ++j) to_earlier += std::abs(x[i] - x[j]);
    sums.left[i + 1] = sums.left[i] + to_earlier;
    all += to_earlier;
  }
  for (std::size_t i = n; i-- > 0;) {
    double to_later = 0;
    for (std::size_t j = i + 1; j < n; ++j) to_later += std::abs(x[i] - x[j]);
    sums.right[i] = sums.right[i + 1] + to_later;
    sums.between[i] = all - sums.left[i] - sums.right[i];
  }
  return sums;
}

// The place that divides the values best by the energy statistic; 0: there are too few values.
std::size_t best_division(Values x, std::size_t min_segment) {
  if (x.size() < 2 * min_segment) return 0;
  const auto sums = divisions_of(x);
  std::size_t best = 0;
  double most = -std::numeric_limits<double>::infinity();
  for (std::size_t k = min_segment; k + min_segment <= x.size(); ++k) {
    const auto n = static_cast<double>(k), m = static_cast<double>(x.size() - k);
    const double q = n * m / (n + m) *
                     (2 * sums.between[k] / (n * m) - 2 * sums.left[k] / (n * (n - 1)) -
                      2 * sums.right[k] / (m * (m - 1)));
    if (q > most) most = q, best = k;
  }
  return best;
}

// Divides again and again as long as both sides differ at `p`.
void divide(Values x, std::size_t offset, const ChangePointConfig& config, std::vector<std::size_t>& found) {
  const auto at = best_division(x, config.min_segment);
  if (at == 0 || p_of_equal_means(x.first(at), x.subspan(at)) > kWeak * config.p) return;
  divide(x.first(at), offset, config, found);
  found.push_back(offset + at);
  divide(x.subspan(at), offset + at, config, found);
}

std::vector<std::size_t> candidates(Values x, const ChangePointConfig& config) {
  std::vector<std::size_t> found;
  const auto step = std::max<std::size_t>(config.window / 2, 1);
  for (std::size_t from = 0; from == 0 || from + step < x.size(); from += step)
    divide(x.subspan(from, std::min(config.window, x.size() - from)), from, config, found);
  std::ranges::sort(found);
  found.erase(std::unique(found.begin(), found.end()), found.end());
  return found;
}

// The values up to a window from `at` on either side, as far as the next candidates.
Candidate judged(Values x, const std::vector<std::size_t>& places, std::size_t index, std::size_t window) {
  const auto at = places[index];
  const auto from = std::max(index == 0 ? 0 : places[index - 1], at > window ? at - window : 0);
  const auto to = std::min(index + 1 == places.size() ? x.size() : places[index + 1], at + window);
  const auto short_side = std::min(at - from, to - at);
  return {at, short_side < 2 ? 1 : p_of_equal_means(x.subspan(from, at - from), x.subspan(at, to - at))};
}

// Takes out the least significant place until all are significant and far enough apart.
std::vector<Candidate> merged(Values x, std::vector<std::size_t> places, const ChangePointConfig& config) {
  while (!places.empty()) {
    std::vector<Candidate> judgements;
    for (std::size_t i = 0; i < places.size(); ++i) judgements.push_back(judged(x, places, i, config.window));
    auto weakest = std::ranges::max_element(judgements, {}, &Candidate::p);
    const auto crowded = std::ranges::adjacent_find(
        judgements, [&](const auto& a, const auto& b) { return b.at - a.at < config.min_segment; });
    if (weakest->p <= config.p && crowded == judgements.end()) return judgements;
    if (weakest->p <= config.p) weakest = crowded->p >= std::next(crowded)->p ? crowded : std::next(crowded);
    places.erase(places.begin() + (weakest - judgements.begin()));
  }
  return {};
}

// The place in the values at which a step leaves the least squares; at least two values.
std::size_t best_step(Values x) {
  const double centre = mean(x);
  double below = 0, most = -1;
  std::size_t best = 1;
  for (std::size_t k = 1; k < x.size(); ++k) {
    below += x[k - 1] - centre;
    const double between =
        below * below * (1 / static_cast<double>(k) + 1 / static_cast<double>(x.size() - k));
    if (between > most) most = between, best = k;
  }
  return best;
}

// Candidates keep a distance from the ends that a step may not have: a level of two values is none yet.
std::vector<Candidate> settled(Values x, std::vector<Candidate> found, const ChangePointConfig& config) {
  std::vector<Candidate> kept;
  for (std::size_t i = 0; i < found.size(); ++i) {
    const auto from = kept.empty() ? 0 : kept.back().at;
    const auto to = i + 1 == found.size() ? x.size() : found[i + 1].at;
    const auto at = from + best_step(x.subspan(from, to - from));
    if (at - from >= config.min_segment && to - at >= config.min_segment) kept.push_back({at, found[i].p});
  }
  return kept;
}

// One to three last values, all beyond the level before them on one side.
std::optional<Watch> watched(Values logs, std::size_t level_from, const ChangePointConfig& config) {
  std::optional<Watch> found;
  for (std::size_t count = 1;
       count < config.min_segment && level_from + config.min_segment + count <= logs.size(); ++count) {
    const auto first = logs.size() - count;
    const auto level = without_outliers(logs.subspan(level_from, first - level_from));
    const auto n = static_cast<double>(level.size());
    const double centre = mean(level), half = student_t(n - 1, 1 - kWeak * config.p) *
                                              stddev(level).value_or(0) * std::sqrt(1 + 1 / n);
    const auto last = logs.subspan(first);
    const bool above = std::ranges::all_of(last, [&](double v) { return v > centre + half; });
    const bool below = std::ranges::all_of(last, [&](double v) { return v < centre - half; });
    if (above || below) found = Watch{first, std::exp(centre), std::exp(mean(last))};
  }
  return found;
}

}  // namespace

Changes change_points(std::span<const double> x, const ChangePointConfig& config) {
  if (std::ranges::any_of(x, [](double v) { return !(v > 0) || !std::isfinite(v); })) return {};
  std::vector<double> logs;
  for (const double v : x) logs.push_back(std::log(v));
  const auto quiet = without_outliers(logs);
  const auto kept = settled(quiet, merged(quiet, candidates(quiet, config), config), config);
  Changes changes;
  for (std::size_t i = 0; i < kept.size(); ++i) {
    const auto at = kept[i].at, from = i == 0 ? 0 : kept[i - 1].at;
    const auto to = i + 1 == kept.size() ? quiet.size() : kept[i + 1].at;
    changes.points.push_back({at, std::exp(mean(Values(quiet).subspan(from, at - from))),
                              std::exp(mean(Values(quiet).subspan(at, to - at))), kept[i].p});
  }
  changes.watch = watched(logs, kept.empty() ? 0 : kept.back().at, config);
  return changes;
}

}  // namespace paceline::stats
