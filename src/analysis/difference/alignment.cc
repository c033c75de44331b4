// SPDX-License-Identifier: MIT
#include "analysis/difference/alignment.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <map>
#include <set>
#include <span>
#include <utility>

namespace paceline::analysis::difference {
namespace {

using Keys = std::vector<PartKey>;
constexpr double kAlone = 1;         // a part that the other side does not have
constexpr double kFusedPart = 0.05;  // per part of a fused run
constexpr std::size_t kMostCells = 32'000'000;
constexpr std::size_t kNarrowestBand = 256;

// Steps of an alignment: parts taken from A and from B.
struct Step {
  std::uint8_t a, b;
};
constexpr auto kSteps = [] {
  std::array<Step, 3 + 2 * (kMostFused - 1)> steps{{{1, 1}, {1, 0}, {0, 1}}};
  for (std::uint8_t k = 2; k <= kMostFused; ++k) {
    steps[k + 1U] = {k, 1};
    steps[k + kMostFused] = {1, k};
  }
  return steps;
}();

// Whether `whole` can stand for several parts of the other side at all.
bool may_be_fused(const PartKey& whole) {
  return !whole.covers.empty() || whole.shares_layer || whole.says_fused;
}

bool covers(const PartKey& whole, int number) {
  return number != kUnknown && std::ranges::binary_search(whole.covers, number);
}

// Names of a side, to see whether a folded part is gone there.
std::set<int> names_in(const Keys& keys) {
  std::set<int> names;
  for (const auto& key : keys) names.insert(key.normal);
  return names;
}

class Fusions {
 public:
  Fusions(const PartKeys& keys) : in_a_(names_in(keys.a)), in_b_(names_in(keys.b)) {}

  // Whether one part does the work of the run. `whole_is_b`: the run is of A.
  [[nodiscard]] bool is_one(std::span<const PartKey> run, const PartKey& whole, bool whole_is_b) const {
    const auto each = [&](auto holds) { return std::ranges::all_of(run, holds); };
    if (whole.shares_layer && each([&](const PartKey& one) { return one.layer == whole.layer; })) return true;
    if (!whole.covers.empty() && each([&](const PartKey& one) {
          return covers(whole, one.normal) || covers(whole, one.layer) ||
                 (one.positional && covers(whole, one.stem));
        }))
      return true;
    return whole.says_fused && folds(run, whole, whole_is_b ? in_b_ : in_a_);
  }

 private:
  // Whether the first of the run is the whole by name, and the rest are activations that its side lacks.
  static bool folds(std::span<const PartKey> run, const PartKey& whole, const std::set<int>& names) {
    const auto& first = run.front();
    const bool same =
        first.family == whole.family && !whole.positional &&
        (first.normal == whole.normal || (first.layer != kUnknown && first.layer == whole.layer));
    return same && std::ranges::all_of(run.subspan(1), [&](const PartKey& one) {
             return one.foldable && !names.contains(one.normal);
           });
  }

  std::set<int> in_a_, in_b_;
};

// Columns near the diagonal, for each row: [low(i), low(i) + width).
class Band {
 public:
  Band(std::size_t n, std::size_t m)
      : n_(n), m_(m), width_(std::min(m + 1, std::max(kNarrowestBand, kMostCells / (n + 1)))) {}
  [[nodiscard]] std::size_t width() const { return width_; }
  [[nodiscard]] std::size_t low(std::size_t i) const {
    const std::size_t middle = n_ == 0 ? 0 : i * m_ / n_;
    return std::min(middle - std::min(middle, width_ / 2), m_ + 1 - width_);
  }

 private:
  std::size_t n_, m_, width_;
};

class Aligner {
 public:
  explicit Aligner(const PartKeys& keys)
      : a_(keys.a),
        b_(keys.b),
        fusions_(keys),
        band_(a_.size(), b_.size()),
        taken_((a_.size() + 1) * band_.width()) {
    for (const auto& key : b_) b_may_be_fused_.push_back(may_be_fused(key));
    for (auto& row : costs_) row.assign(band_.width(), kEndless);
    for (std::size_t i = 0; i <= a_.size(); ++i) fill_row(i);
  }

  [[nodiscard]] std::vector<Aligned> rows() const {
    std::vector<Aligned> rows;
    for (std::size_t i = a_.size(), j = b_.size(); i > 0 || j > 0;) {
      const Step step = kSteps[taken_[i * band_.width() + j - band_.low(i)]];
      auto& row = rows.emplace_back();
      for (std::size_t k = i - step.a; k < i; ++k) row.a.push_back(k);
      for (std::size_t k = j - step.b; k < j; ++k) row.b.push_back(k);
      i -= step.a, j -= step.b;
    }
    std::ranges::reverse(rows);
    return rows;
  }

 private:
  static constexpr double kEndless = std::numeric_limits<double>::infinity();
  static constexpr std::size_t kKept = kMostFused + 1;

  // A row of costs, and its first column.
  struct CostRow {
    double* costs;
    std::size_t low;
  };

  [[nodiscard]] double at(const CostRow& row, std::size_t j) const {
    const auto column = j - row.low;  // wraps below the band
    return column < band_.width() ? row.costs[column] : kEndless;
  }

  // Cost of a fused step that ends at (i, j).
  [[nodiscard]] double cost_of(const Step& step, std::size_t i, std::size_t j) const {
    const auto [k, l] = step;
    const bool whole_is_b = l == 1;
    const auto& whole = whole_is_b ? b_[j - 1] : a_[i - 1];
    const auto run = whole_is_b ? std::span(a_).subspan(i - k, k) : std::span(b_).subspan(j - l, l);
    return fusions_.is_one(run, whole, whole_is_b) ? kFusedPart * static_cast<double>(run.size()) : kEndless;
  }

  void fill_row(std::size_t i) {
    for (std::size_t k = 0; k <= std::min(i, kMostFused); ++k)
      rows_[k] = {costs_[(i - k) % kKept].data(), band_.low(i - k)};
    const auto& row = rows_[0];
    const bool a_fused = i > 0 && may_be_fused(a_[i - 1]);
    auto* const taken = &taken_[i * band_.width()];
    for (std::size_t column = 0; column < band_.width(); ++column) {
      const auto j = row.low + column;
      double best = i == 0 && j == 0 ? 0 : kEndless;
      const auto offer = [&](std::size_t step, double cost) {
        if (cost < best) best = cost, taken[column] = static_cast<std::uint8_t>(step);
      };
      if (j > 0) offer(2, (column > 0 ? row.costs[column - 1] : kEndless) + kAlone);
      if (i > 0) offer(1, at(rows_[1], j) + kAlone);
      if (i > 0 && j > 0) {
        if (const double before = at(rows_[1], j - 1); before <= best)
          offer(0, before + pair_cost(a_[i - 1], b_[j - 1]));
        if (a_fused || b_may_be_fused_[j - 1]) offer_fused(i, j, offer);
      }
      row.costs[column] = best;
    }
  }

  template <typename Offer>
  void offer_fused(std::size_t i, std::size_t j, const Offer& offer) const {
    for (std::size_t step = 3; step < kSteps.size(); ++step) {
      const auto [k, l] = kSteps[step];
      if (k > i || l > j) continue;
      if (const double before = at(rows_[k], j - l); before < kEndless)
        offer(step, before + cost_of(kSteps[step], i, j));
    }
  }

  const Keys &a_, &b_;
  Fusions fusions_;
  Band band_;
  std::vector<bool> b_may_be_fused_{};
  std::array<std::vector<double>, kKept> costs_;  // of the last rows
  std::array<CostRow, kKept> rows_{};             // k: the row that is k above the present one
  std::vector<std::uint8_t> taken_;               // index in kSteps, by row and column of the band
};

using Single = std::map<std::pair<int, int>, std::vector<std::size_t>>;

// Pairs parts that only one side has, and that agree in `get`, first with first.
template <typename Get>
void join_alone(std::vector<Aligned>& rows, const PartKeys& keys, Get get) {
  Single only_b;
  for (std::size_t r = 0; r < rows.size(); ++r)
    if (rows[r].a.empty() && rows[r].b.size() == 1)
      if (const auto key = get(keys.b[rows[r].b[0]]); key.first != kUnknown) only_b[key].push_back(r);
  for (auto& row : rows) {
    if (!row.b.empty() || row.a.size() != 1) continue;
    const auto found = only_b.find(get(keys.a[row.a[0]]));
    if (found == only_b.end() || found->second.empty()) continue;
    auto& other = rows[found->second.front()];
    row.b = std::exchange(other.b, {});
    found->second.erase(found->second.begin());
  }
  std::erase_if(rows, [](const Aligned& row) { return row.a.empty() && row.b.empty(); });
}

// Pairs the only part that A alone has of a type with the only one that B alone has of it: another kernel of
// the same operator.
void join_replaced(std::vector<Aligned>& rows, const PartKeys& keys) {
  std::map<int, std::pair<std::vector<std::size_t>, std::vector<std::size_t>>> alone;
  for (std::size_t r = 0; r < rows.size(); ++r) {
    if (rows[r].b.empty()) alone[keys.a[rows[r].a[0]].layer].first.push_back(r);
    if (rows[r].a.empty()) alone[keys.b[rows[r].b[0]].layer].second.push_back(r);
  }
  for (const auto& [layer, sides] : alone)
    if (layer != kUnknown && sides.first.size() == 1 && sides.second.size() == 1)
      rows[sides.first[0]].b = std::exchange(rows[sides.second[0]].b, {});
  std::erase_if(rows, [](const Aligned& row) { return row.a.empty() && row.b.empty(); });
}

std::pair<int, int> by_name(const PartKey& key) {
  return {key.positional ? kUnknown : key.name, key.family};
}

}  // namespace

// A part that moved is found by its name afterwards: an alignment keeps the order.
std::vector<Aligned> align_ordered(const PartKeys& keys) {
  auto rows = Aligner(keys).rows();
  join_alone(rows, keys, by_name);
  join_alone(rows, keys, [](const PartKey& key) { return std::pair(key.layer, key.family); });
  join_alone(rows, keys,
             [](const PartKey& key) { return std::pair(key.positional ? key.stem : kUnknown, key.family); });
  return rows;
}

std::vector<Aligned> align_by_name(const PartKeys& keys) {
  std::vector<Aligned> rows;
  for (std::size_t i = 0; i < keys.a.size(); ++i) rows.push_back({.a = {i}});
  for (std::size_t j = 0; j < keys.b.size(); ++j) rows.push_back({.b = {j}});
  join_alone(rows, keys, [](const PartKey& key) { return std::pair(key.name, key.shape); });
  join_alone(rows, keys, [](const PartKey& key) { return std::pair(key.name, key.family); });
  join_alone(rows, keys, [](const PartKey& key) { return std::pair(key.normal, key.family); });
  join_replaced(rows, keys);
  return rows;
}

}  // namespace paceline::analysis::difference
