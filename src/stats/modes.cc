// SPDX-License-Identifier: MIT
// Finds groups of latencies (modes).
#include <algorithm>
#include <cmath>
#include <cstdint>

#include "base/random.h"
#include "stats/noise.h"
#include "stats/quantile.h"
#include "stats/spread.h"

namespace paceline::stats {
namespace {

constexpr double kLeastMass = 0.10;
constexpr double kDeepestValley = 0.5;  // relative to the smaller peak: a shallower valley separates nothing
constexpr double kDipLimit = 0.60;
constexpr std::size_t kFewestForDip = 50;
constexpr std::size_t kFewestForKernel = 300;
constexpr double kShareTolerance = 0.10;
constexpr double kStepsPerBandwidth = 4;
constexpr double kMostGridPoints = 20'000;
constexpr double kKernelReach = 4;  // in bandwidths

double bandwidth(std::span<const double> sorted) {
  const double sd = stddev(sorted).value_or(0);
  const double iqr = nearest_rank(sorted, 750'000) - nearest_rank(sorted, 250'000);
  const double width = iqr > 0 ? std::min(sd, iqr / 1.34) : sd;
  return 0.9 * width * std::pow(static_cast<double>(sorted.size()), -0.2);
}

// Density (unscaled) on an even grid over the sample without its outermost 2 %, which are too small for a
// mode.
struct Grid {
  double origin = 0;
  double step = 0;
  std::vector<double> density;
  [[nodiscard]] double at(std::size_t i) const { return origin + step * static_cast<double>(i); }
};

Grid make_grid(std::span<const double> sorted, double width) {
  const double low = nearest_rank(sorted, 20'000) - kKernelReach * width;
  const double high = nearest_rank(sorted, 980'000) + kKernelReach * width;
  const double points = std::clamp((high - low) / width * kStepsPerBandwidth, 2.0, kMostGridPoints);
  return {low, (high - low) / points, std::vector<double>(static_cast<std::size_t>(points) + 1, 0.0)};
}

// Counts per grid cell; one convolution with the kernel follows: linear in the number of samples.
std::vector<double> cell_counts(std::span<const double> sorted, const Grid& grid) {
  std::vector<double> counts(grid.density.size(), 0.0);
  for (double v : sorted) {
    const double cell = std::round((v - grid.origin) / grid.step);
    if (cell >= 0 && cell < static_cast<double>(counts.size())) counts[static_cast<std::size_t>(cell)] += 1;
  }
  return counts;
}

void fill_density(Grid& grid, std::span<const double> sorted, double width) {
  const auto counts = cell_counts(sorted, grid);
  const auto size = static_cast<std::ptrdiff_t>(counts.size());
  const auto reach = static_cast<std::ptrdiff_t>(std::ceil(kKernelReach * width / grid.step));
  for (std::ptrdiff_t offset = -reach; offset <= reach; ++offset) {
    const double u = static_cast<double>(offset) * grid.step / width;
    const double weight = std::exp(-u * u / 2);
    for (std::ptrdiff_t i = std::max<std::ptrdiff_t>(0, -offset); i < std::min(size, size - offset); ++i)
      grid.density[static_cast<std::size_t>(i + offset)] += weight * counts[static_cast<std::size_t>(i)];
  }
}

// A hill of the density: samples [begin, end), its highest point, and the valley to the next hill.
struct Hill {
  std::size_t begin = 0, end = 0;
  double peak = 0;
  double valley_after = 0;
};

std::vector<Hill> find_hills(const Grid& grid, std::span<const double> sorted) {
  std::vector<Hill> hills;
  Hill hill{0, 0, grid.density.front(), 0};
  for (std::size_t i = 1; i + 1 < grid.density.size(); ++i) {
    hill.peak = std::max(hill.peak, grid.density[i]);
    const bool valley = grid.density[i] <= grid.density[i - 1] && grid.density[i] < grid.density[i + 1];
    if (!valley) continue;
    hill.end =
        static_cast<std::size_t>(std::upper_bound(sorted.begin(), sorted.end(), grid.at(i)) - sorted.begin());
    hill.valley_after = grid.density[i];
    hills.push_back(hill);
    hill = {hill.end, 0, grid.density[i], 0};
  }
  hill.end = sorted.size();
  hills.push_back(hill);
  return hills;
}

void merge(std::vector<Hill>& hills, std::size_t left) {
  Hill& kept = hills[left];
  const Hill& gone = hills[left + 1];
  kept.end = gone.end;
  kept.peak = std::max(kept.peak, gone.peak);
  kept.valley_after = gone.valley_after;
  hills.erase(hills.begin() + static_cast<std::ptrdiff_t>(left) + 1);
}

// How little the valley after hill i separates; 1 means no separation.
double shallowness(const std::vector<Hill>& hills, std::size_t i) {
  const double smaller = std::min(hills[i].peak, hills[i + 1].peak);
  return smaller > 0 ? hills[i].valley_after / smaller : 1;
}

void merge_shallow(std::vector<Hill>& hills) {
  while (hills.size() > 1) {
    std::size_t worst = 0;
    for (std::size_t i = 1; i + 1 < hills.size(); ++i)
      if (shallowness(hills, i) > shallowness(hills, worst)) worst = i;
    if (shallowness(hills, worst) <= kDeepestValley) return;
    merge(hills, worst);
  }
}

// Merges hills below the least mass with the neighbour across the shallower valley.
void merge_light(std::vector<Hill>& hills, std::size_t n) {
  while (hills.size() > 1) {
    const auto lightest = std::min_element(hills.begin(), hills.end(), [](const Hill& a, const Hill& b) {
      return a.end - a.begin < b.end - b.begin;
    });
    if (static_cast<double>(lightest->end - lightest->begin) >= kLeastMass * static_cast<double>(n)) return;
    const auto i = static_cast<std::size_t>(lightest - hills.begin());
    const bool leftwards =
        i + 1 == hills.size() || (i > 0 && shallowness(hills, i - 1) > shallowness(hills, i));
    merge(hills, leftwards ? i - 1 : i);
  }
}

std::vector<Mode> to_modes(const std::vector<Hill>& hills, std::span<const double> sorted) {
  std::vector<Mode> modes;
  for (const auto& hill : hills) {
    const auto part = sorted.subspan(hill.begin, hill.end - hill.begin);
    modes.push_back(
        {median_sorted(part), static_cast<double>(part.size()) / static_cast<double>(sorted.size())});
  }
  return modes;
}

}  // namespace

std::vector<double> jitter_ties(std::span<const double> x, double resolution) {
  std::vector<double> jittered(x.begin(), x.end());
  const CounterRng random(0x6a697474, x.size());
  for (std::size_t i = 0; i < jittered.size(); ++i) jittered[i] += (random.uniform(i) - 0.5) * resolution;
  return jittered;
}

std::vector<Mode> kde_modes(std::span<const double> sorted) {
  const double width = bandwidth(sorted);
  if (!(width > 0)) return {{median_sorted(sorted), 1.0}};
  Grid grid = make_grid(sorted, width);
  fill_density(grid, sorted, width);
  auto hills = find_hills(grid, sorted);
  merge_shallow(hills);
  merge_light(hills, sorted.size());
  return to_modes(hills, sorted);
}

std::optional<Multimodality> multimodality(std::span<const double> x, double resolution) {
  if (x.size() < kFewestForDip) return std::nullopt;
  const auto sorted = sorted_copy(jitter_ties(x, resolution));
  Multimodality result;
  result.dip_sqrt_n = std::sqrt(static_cast<double>(x.size())) * dip_statistic(sorted);
  auto modes = kde_modes(sorted);
  const bool by_dip = result.dip_sqrt_n > kDipLimit;
  const bool by_kernel = x.size() >= kFewestForKernel && modes.size() > 1;
  result.flagged = by_dip || by_kernel;
  if (!result.flagged) return result;
  result.rule = by_dip ? "dip" : "kde";
  if (modes.size() > 1) result.modes = std::move(modes);
  return result;
}

bool mode_shares_differ(const Multimodality& a, const Multimodality& b) {
  if (a.modes.size() != b.modes.size()) return true;
  for (std::size_t i = 0; i < a.modes.size(); ++i)
    if (std::abs(a.modes[i].share - b.modes[i].share) > kShareTolerance) return true;
  return false;
}

}  // namespace paceline::stats
