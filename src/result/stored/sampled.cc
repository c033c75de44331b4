// SPDX-License-Identifier: MIT
#include "result/stored/sampled.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <map>
#include <tuple>

#include "base/csv_cell.h"
#include "base/error.h"
#include "base/foreign_text.h"
#include "base/reading.h"
#include "base/text.h"

namespace paceline::result {
namespace {

// The element for which `is` holds; a new one where there is none.
template <typename T, typename Is>
T& found_or_added(std::vector<T>& all, Is is) {
  const auto found = std::ranges::find_if(all, is);
  return found == all.end() ? all.emplace_back() : *found;
}

void add_number(SampledMetric& metric, double value) {
  const auto n = static_cast<double>(metric.n);
  metric.mean = (metric.mean.value().value_or(0) * (n - 1) + value) / n;
  metric.min = std::min(metric.min.value().value_or(value), value);
  metric.max = std::max(metric.max.value().value_or(value), value);
}

void add_words(SampledMetric& metric, const std::string& words) {
  auto& count = found_or_added(metric.words, [&](const WordCount& one) { return one.words == words; });
  count.words = words;
  ++count.n;
}

void add(SampledMetric& metric, const SampledSeries& series) {
  metric.device = series.device, metric.metric = series.metric, metric.unit = series.unit;
  for (const double value : series.numbers) ++metric.n, add_number(metric, value);
  for (const auto& words : series.words) ++metric.n, add_words(metric, words);
  if (metric.words.empty()) return;
  metric.mean = metric.min = metric.max = Number::missing("its values are words");
}

void add(Sampled& sampled, const SampledWindow& window) {
  sampled.sampler = window.sampler;
  ++sampled.windows;
  sampled.readings += window.readings;
  if (window.cpu_s && window.window_s && *window.window_s > 0)
    sampled.cpu_share = std::max(sampled.cpu_share.value().value_or(0), *window.cpu_s / *window.window_s);
  if (!window.problem.empty() &&
      std::ranges::find(sampled.problems, window.problem) == sampled.problems.end())
    sampled.problems.push_back(window.problem);
  for (const auto& series : window.series) {
    auto& metric = found_or_added(sampled.metrics, [&](const SampledMetric& one) {
      return one.rank == window.rank && one.device == series.device && one.metric == series.metric &&
             one.unit == series.unit;
    });
    metric.rank = window.rank;
    add(metric, series);
  }
}

constexpr std::string_view kSampledHeader = "repetition,rank,sampler,device,metric,unit,time_s,value";
constexpr std::size_t kSampledColumns = 8;

// The cells of the row at the front of `rest`, which is removed. Quoted cells may have commas, quotes and
// ends of lines.
std::vector<std::string> take_cells(std::string_view& rest) {
  std::vector<std::string> cells(1);
  bool quoted = false;
  std::size_t at = 0;
  for (; at < rest.size() && (quoted || rest[at] != '\n'); ++at) {
    const char c = rest[at];
    if (c == '"' && quoted && rest.substr(at + 1).starts_with('"'))
      cells.back() += rest[++at];
    else if (c == '"')
      quoted = !quoted;
    else if (c == ',' && !quoted)
      cells.emplace_back();
    else
      cells.back() += c;
  }
  for (auto& cell : cells) cell = unguarded_cell(cell);
  rest.remove_prefix(std::min(at + 1, rest.size()));
  return cells;
}

// Puts rows into windows and series, which are found by their names: there may be many of them.
class ReadingRows {
 public:
  void add(const std::vector<std::string>& cells, const std::string& place) {
    const auto wrong = [&] {
      return Error(ErrorCode::kData, fmt::format("{}: not a row of readings ({})", place, kSampledHeader));
    };
    if (cells.size() != kSampledColumns) throw wrong();
    const auto repetition = parse_int(cells[0]), rank = parse_int(cells[1]);
    const auto time_s = parse_double(cells[6]);
    if (!repetition || !rank || !time_s) throw wrong();
    auto& series = series_of({*repetition, *rank, cells[2]}, {cells[3], cells[4], cells[5]});
    const auto value = parse_double(cells[7]);
    if (!value && !series.numbers.empty()) throw wrong();
    if (value && series.words.empty())
      series.numbers.push_back(*value);
    else
      series.words.push_back(cells[7]);
    series.times_s.push_back(*time_s);
  }
  std::vector<SampledWindow> take() { return std::move(windows_); }

 private:
  using WindowName = std::tuple<std::int64_t, std::int64_t, std::string>;  // repetition, rank, sampler
  using SeriesName = std::array<std::string, 3>;                           // device, metric, unit

  SampledSeries& series_of(const WindowName& window_name, const SeriesName& name) {
    const auto [window, is_new] = window_at_.try_emplace(window_name, windows_.size());
    if (is_new) {
      auto& added = windows_.emplace_back();
      std::tie(added.repetition, added.rank, added.sampler) = window_name;
      series_at_.emplace_back();
    }
    auto& all = windows_[window->second].series;
    const auto [series, adds] = series_at_[window->second].try_emplace(name, all.size());
    if (adds) {
      auto& added = all.emplace_back();
      added.device = name[0], added.metric = name[1], added.unit = name[2];
    }
    return all[series->second];
  }

  std::vector<SampledWindow> windows_;
  std::map<WindowName, std::size_t> window_at_;
  std::vector<std::map<SeriesName, std::size_t>> series_at_;  // by window
};

}  // namespace

std::vector<Sampled> summarize_sampled(const std::vector<SampledWindow>& windows) {
  std::vector<Sampled> all;
  for (const auto& window : windows)
    add(found_or_added(all, [&](const Sampled& one) { return one.sampler == window.sampler; }), window);
  return all;
}

std::string sampled_csv(const std::vector<SampledWindow>& windows) {
  fmt::memory_buffer buffer;
  const auto out = std::back_inserter(buffer);
  fmt::format_to(out, "{}\n", kSampledHeader);
  for (const auto& window : windows)
    for (const auto& series : window.series)
      for (std::size_t i = 0; i < series.times_s.size(); ++i)
        fmt::format_to(
            out, "{},{},{},{},{},{},{:.6f},{}\n", window.repetition, window.rank, csv_cell(window.sampler),
            csv_cell(series.device), csv_cell(series.metric), csv_cell(series.unit), series.times_s[i],
            series.words.empty() ? fmt::format("{}", series.numbers.at(i)) : csv_cell(series.words.at(i)));
  return fmt::to_string(buffer);
}

std::vector<SampledWindow> read_sampled_csv(const std::filesystem::path& path) {
  const std::string text = read_stored(path, Foreign::kRows);
  std::string_view rest = text;
  if (join(take_cells(rest), ",") != kSampledHeader)
    throw Error(ErrorCode::kData, fmt::format("'{}' is not a file of readings: its first line should be {}",
                                              path.string(), kSampledHeader));
  ReadingRows rows;
  for (std::size_t row = 2; !rest.empty(); ++row)
    rows.add(take_cells(rest), fmt::format("{}, row {}", path.string(), row));
  return rows.take();
}

}  // namespace paceline::result
