// SPDX-License-Identifier: MIT
#include "result/figures/summarize_collective.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>

#include "base/collective.h"
#include "base/csv_cell.h"
#include "base/error.h"
#include "stats/link_fit.h"
#include "stats/process_level.h"
#include "stats/quantile.h"
#include "stats/spread.h"

namespace paceline::result {
namespace {

constexpr std::size_t kProcessesForInterval = 6;
constexpr const char* kOneRank = "one rank";

using ByRank = std::vector<std::vector<std::int64_t>>;

// Time of the slowest rank, per operation.
std::vector<double> slowest_of(const ByRank& ranks) {
  std::vector<double> values;
  for (std::size_t i = 0; i < ranks.front().size(); ++i) {
    auto longest = ranks.front()[i];
    for (const auto& rank : ranks) longest = std::max(longest, rank[i]);
    values.push_back(static_cast<double>(longest));
  }
  return values;
}

void check_lengths(const CollectiveTimes& t) {
  for (const auto* ranks : {&t.sync_ns, &t.stream_ns})
    for (const auto& rank : *ranks)
      if (rank.size() != ranks->front().size())
        throw Error(ErrorCode::kData, fmt::format("ranks have timed {} and {} operations of {} bytes",
                                                  ranks->front().size(), rank.size(), t.bytes));
  if (t.sync_ns.empty() || t.sync_ns.front().empty())
    throw Error(ErrorCode::kData, fmt::format("no operation of {} bytes was timed", t.bytes));
}

// One size and place in every repetition.
using Same = std::vector<const CollectiveTimes*>;

Same same_in(const TimesOfRepetitions& times, std::int64_t bytes, bool in_place) {
  Same same;
  for (const auto& [repetition, list] : times)
    for (const auto& t : list)
      if (t.bytes == bytes && t.in_place == in_place) same.push_back(&t);
  return same;
}

std::vector<double> together(const std::vector<std::vector<double>>& processes) {
  std::vector<double> all;
  for (const auto& one : processes) all.insert(all.end(), one.begin(), one.end());
  return all;
}

Estimate median_with_interval(const std::vector<std::vector<double>>& processes, double confidence) {
  if (processes.size() >= kProcessesForInterval) {
    const auto e = stats::over_processes(stats::process_medians(processes), confidence);
    if (!e.ci) return {e.value, Number::missing(e.reason), Number::missing(e.reason), confidence, ""};
    return {e.value, e.ci->low, e.ci->high, confidence, e.ci_method};
  }
  const auto all = together(processes);
  const auto q = stats::estimate_quantile(all, stats::kPpmP50, confidence);
  return {Number(stats::median(all)), {q.ci_low, q.reason}, {q.ci_high, q.reason}, confidence, q.ci_method};
}

Number claimed(const std::vector<double>& all, std::uint32_t ppm, double confidence) {
  const auto q = stats::estimate_quantile(all, ppm, confidence);
  return {q.value, q.reason};
}

OperationSpread spread_of(const std::vector<double>& all, double confidence) {
  const auto [min, max] = std::ranges::minmax(all);
  return {min,
          max,
          stats::mean(all),
          {stats::stddev(all), "one operation"},
          claimed(all, stats::kPpmP95, confidence)};
}

// bytes / ns is GB/s.
Number bandwidth(const Number& ns, double bytes, const std::string& why_none) {
  if (!why_none.empty()) return Number::missing(why_none);
  if (!ns) return Number::missing(ns.reason());
  return bytes / *ns;
}

Number batch_mean(const Same& same) {
  std::vector<double> values;
  for (const auto* t : same)
    for (const auto ns : t->batch_ns)
      values.push_back(static_cast<double>(ns) / static_cast<double>(t->batch));
  if (values.empty()) return Number::missing("no batch was timed");
  double sum = 0;
  for (const double value : values) sum += value;
  return sum / static_cast<double>(values.size());
}

class Summary {
 public:
  Summary(CollectiveResult& collective, const TimesOfRepetitions& times, double confidence)
      : collective_(collective), times_(times), confidence_(confidence), ranks_(collective.ranks.size()) {}

  void fill() {
    collective_.sizes.clear(), collective_.link.clear();
    for (const auto& t : times_.begin()->second)
      if (collective_.sizes.empty() || collective_.sizes.back().bytes != t.bytes)
        collective_.sizes.push_back({t.bytes, t.count, {}, {}, {}, {}});
    for (auto& size : collective_.sizes) {
      fill_place(size.out_of_place, size, false);
      fill_place(size.in_place, size, true);
    }
    fill_totals();
    fill_link();
  }

 private:
  [[nodiscard]] Collective operation() const {
    return parse_collective(collective_.operation).value_or(Collective::kBarrier);
  }

  void fill_place(CollectiveFigures& figures, const CollectiveSizeFigures& size, bool in_place) {
    const auto same = same_in(times_, size.bytes, in_place);
    if (same.empty()) return leave_out(figures);
    std::vector<std::vector<double>> sync, stream;
    std::int64_t n = 0, wrong = 0;
    for (const auto* t : same) {
      check_lengths(*t);
      sync.push_back(slowest_of(t->sync_ns));
      if (!t->stream_ns.empty() && !t->stream_ns.front().empty()) stream.push_back(slowest_of(t->stream_ns));
      n += static_cast<std::int64_t>(sync.back().size()), wrong += t->wrong;
      figures.converged = figures.converged && t->converged;
    }
    figures.n = n;
    figures.wrong = same.front()->checked ? Count(wrong) : Count::missing("not checked");
    figures.batch_ns = batch_mean(same);
    figures.sync_ns = median_with_interval(sync, confidence_);
    const auto all = together(sync);
    figures.sync_p99_ns = claimed(all, stats::kPpmP99, confidence_);
    figures.sync_spread = spread_of(all, confidence_);
    figures.stream_ns =
        stream.empty()
            ? Number::missing("operations that follow each other on a device are not timed one by one")
            : median_with_interval(stream, confidence_).value;
    fill_bandwidths(figures, static_cast<double>(size.bytes));
  }

  void fill_bandwidths(CollectiveFigures& f, double bytes) {
    const auto world = static_cast<std::int64_t>(ranks_);
    const std::string nothing = bytes == 0 ? "a barrier carries nothing" : "",
                      no_bus = ranks_ < 2 ? kOneRank : nothing;
    const double bus = bytes * (ranks_ < 2 ? 1 : bus_factor(operation(), world));
    f.batch_algbw_gb_per_s = bandwidth(f.batch_ns, bytes, nothing);
    f.batch_busbw_gb_per_s = bandwidth(f.batch_ns, bus, no_bus);
    f.sync_busbw_gb_per_s = {
        bandwidth(f.sync_ns.value, bus, no_bus), bandwidth(f.sync_ns.ci_high, bus, no_bus),
        bandwidth(f.sync_ns.ci_low, bus, no_bus), f.sync_ns.confidence, f.sync_ns.ci_method};
  }

  void leave_out(CollectiveFigures& f) {
    const auto none = Number::missing("not measured in this place");
    f.batch_ns = f.batch_algbw_gb_per_s = f.batch_busbw_gb_per_s = f.sync_p99_ns = f.stream_ns = none;
    f.sync_spread = {none, none, none, none, none};
    f.sync_ns = f.sync_busbw_gb_per_s = {none, none, none, confidence_, ""};
    f.n = f.wrong = Count::missing(none.reason());
  }

  void fill_totals() {
    double sum = 0;
    std::int64_t counted = 0, wrong = 0;
    bool checked = false;
    for (const auto& size : collective_.sizes)
      for (const auto* f : {&size.out_of_place, &size.in_place}) {
        if (f->batch_busbw_gb_per_s) sum += *f->batch_busbw_gb_per_s, ++counted;
        if (f->wrong) checked = true, wrong += *f->wrong;
      }
    collective_.average_busbw_gb_per_s =
        counted > 0 ? Number(sum / static_cast<double>(counted)) : Number::missing(kOneRank);
    collective_.wrong = checked ? Count(wrong) : Count::missing("not checked");
  }

  void fill_link() {
    std::vector<stats::MessageTime> points;
    for (const auto& size : collective_.sizes) {
      const auto& ns = size.out_of_place.sync_ns.value;
      if (ns && size.bytes > 0) points.push_back({static_cast<double>(size.bytes), *ns * 1e-9});
    }
    const auto fit = stats::fit_link(points, confidence_);
    collective_.link_error = fit ? Number(fit->rms_error) : Number::missing("a fit needs three sizes");
    if (!fit) return;
    for (const auto& s : fit->segments) collective_.link.push_back(figures_of(s));
  }

  [[nodiscard]] LinkFigures figures_of(const stats::LinkSegment& s) const {
    constexpr double kNs = 1e9, kGb = 1e-9;
    constexpr const char* kMethod = "t_weighted_fit";
    const auto none = Number::missing("the fit has no interval here");
    const auto rate = [](double beta) {
      return beta > 0 ? Number(kGb / beta) : Number::missing("the time does not grow with the size");
    };
    LinkFigures f{static_cast<std::int64_t>(s.from_bytes), static_cast<std::int64_t>(s.to_bytes), {}, {}};
    f.alpha_ns = {s.alpha_s * kNs, none, none, confidence_, kMethod};
    f.gb_per_s = {rate(s.beta_s_per_byte), none, none, confidence_, kMethod};
    if (s.alpha_ci) f.alpha_ns.ci_low = s.alpha_ci->low * kNs, f.alpha_ns.ci_high = s.alpha_ci->high * kNs;
    if (s.beta_ci) f.gb_per_s.ci_low = rate(s.beta_ci->high), f.gb_per_s.ci_high = rate(s.beta_ci->low);
    return f;
  }

  CollectiveResult& collective_;
  const TimesOfRepetitions& times_;
  double confidence_;
  std::size_t ranks_;
};

void append_rows(std::string& text, std::int64_t repetition, const CollectiveTimes& t, const char* mode,
                 const ByRank& ranks) {
  for (std::size_t rank = 0; rank < ranks.size(); ++rank)
    for (std::size_t i = 0; i < ranks[rank].size(); ++i)
      text += fmt::format("{},{},{},{},{},{},{}\n", repetition, t.bytes, t.in_place ? 1 : 0, mode, rank, i,
                          ranks[rank][i]);
}

}  // namespace

void summarize_collective(CollectiveResult& collective, const TimesOfRepetitions& times, double confidence) {
  if (times.empty() || times.begin()->second.empty()) return;
  Summary(collective, times, confidence).fill();
}

Number fitted_busbw(const CollectiveResult& collective, std::int64_t bytes) {
  const auto ranks = static_cast<std::int64_t>(collective.ranks.size());
  const auto operation = parse_collective(collective.operation);
  if (collective.link.empty() || ranks < 2 || bytes == 0 || !operation) return Number::missing("no fit");
  const auto& links = collective.link;
  const auto& link = bytes < links.back().from_bytes ? links.front() : links.back();
  const auto size = static_cast<double>(bytes);
  const double ns = *link.alpha_ns.value + (link.gb_per_s.value ? size / *link.gb_per_s.value : 0);
  return size * bus_factor(*operation, ranks) / ns;
}

std::vector<Sample> largest_size_samples(const std::vector<CollectiveTimes>& times, std::int32_t repetition) {
  const CollectiveTimes* largest = nullptr;
  for (const auto& t : times)
    if (!largest || t.bytes > largest->bytes) largest = &t;
  std::vector<Sample> samples;
  if (!largest) return samples;
  check_lengths(*largest);
  if (largest->sync_start_ns.size() != largest->sync_ns.front().size())
    throw Error(ErrorCode::kData, "the operations of the largest size have no starts");
  for (const double ns : slowest_of(largest->sync_ns)) {
    Sample s;
    s.start_ns = largest->sync_start_ns[samples.size()];
    s.repetition = repetition;
    s.index = static_cast<std::int64_t>(samples.size());
    s.host_ns = static_cast<std::int64_t>(ns);
    samples.push_back(s);
  }
  return samples;
}

std::string collective_times_csv(const TimesOfRepetitions& times) {
  std::string text = "repetition,bytes,in_place,mode,rank,index,duration_ns\n";
  for (const auto& [repetition, list] : times)
    for (const auto& t : list) {
      append_rows(text, repetition, t, "sync", t.sync_ns);
      append_rows(text, repetition, t, "stream", t.stream_ns);
    }
  return text;
}

}  // namespace paceline::result
