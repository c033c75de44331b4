// SPDX-License-Identifier: MIT
#include "result/collective_table.h"

#include <fmt/format.h>

#include <set>

#include "base/collective.h"
#include "base/csv_cell.h"
#include "result/judged/noise_rules.h"

namespace paceline::result {
namespace {

std::string cell(const Count& count) {
  return count ? std::to_string(*count) : std::string();
}

// One way of timing a size: what it has of a row's figures.
struct Timing {
  const char* mode;
  Estimate ns;
  Count n;
  Number p99_ns;
  OperationSpread spread;
};

Estimate without_interval(const Number& value) {
  const auto none = Number::missing("it has no interval");
  return {value, none, none, 0, ""};
}

std::vector<Timing> timings_of(const CollectiveFigures& f) {
  const auto none = Number::missing("not kept for this mode");
  const OperationSpread no_spread{none, none, none, none, none};
  const auto no_count = Count::missing(none.reason());
  return {{"one_by_one", f.sync_ns, f.n, f.sync_p99_ns, f.sync_spread},
          {"back_to_back", without_interval(f.stream_ns), no_count, none, no_spread},
          {"batch", without_interval(f.batch_ns), no_count, none, no_spread}};
}

// GB/s are bytes over ns.
Number rate(double bytes, const Number& ns) {
  return bytes > 0 && ns ? Number(bytes / *ns) : Number::missing("no bytes, or no time");
}

class CaseRows {
 public:
  CaseRows(const RunResult& run, const CaseResult& one) : c_(*one.collective()) {
    const auto ranks = std::ssize(c_.ranks);
    if (const auto operation = parse_collective(c_.operation); operation && ranks > 1)
      bus_factor_ = bus_factor(*operation, ranks);
    std::set<std::string> hosts;
    for (const auto& rank : c_.ranks) hosts.insert(rank.host);
    front_ = fmt::format("{},{},{},{},{},{},{},{},{},{},{},{},{},{},{}", csv_cell(run.run_id),
                         csv_cell(one.case_id), name_of(one.outcome), one.complete ? 1 : 0,
                         grade_letter(one.grade), csv_cell(c_.operation), csv_cell(c_.dtype),
                         csv_cell(c_.reduction), cell(c_.root), csv_cell(c_.backend),
                         csv_cell(one.benchmark.device.empty() ? "cpu" : one.benchmark.device),
                         csv_cell(c_.launcher), hosts.size(), ranks, one.benchmark.threads);
  }

  [[nodiscard]] std::string rows() const {
    std::string text;
    for (const auto& size : c_.sizes)
      for (const auto* f : {&size.out_of_place, &size.in_place})
        if (f->n) text += rows_of(size, *f);
    return text;
  }

 private:
  [[nodiscard]] std::string rows_of(const CollectiveSizeFigures& size, const CollectiveFigures& f) const {
    const auto bytes = static_cast<double>(size.bytes);
    const bool in_place = &f == &size.in_place;
    std::string text;
    for (const auto& t : timings_of(f)) {
      if (!t.ns.value) continue;
      const auto bus = bytes * bus_factor_;
      text += fmt::format(
          "{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{}\n", front_, size.bytes,
          size.count, in_place ? "in_place" : "out_of_place", t.mode, cell(t.n), csv_cell(t.ns.value),
          csv_cell(t.ns.ci_low), csv_cell(t.ns.ci_high), t.ns.ci_low ? csv_cell(Number(t.ns.confidence)) : "",
          csv_cell(rate(bytes, t.ns.value)), csv_cell(rate(bus, t.ns.value)),
          csv_cell(rate(bus, t.ns.ci_high)), csv_cell(rate(bus, t.ns.ci_low)),
          csv_cell(in_place ? Number::missing("of out of place alone") : size.expected_busbw_gb_per_s),
          csv_cell(t.spread.min_ns), csv_cell(t.spread.mean_ns), csv_cell(t.spread.max_ns),
          csv_cell(t.spread.stddev_ns), csv_cell(t.spread.p95_ns), csv_cell(t.p99_ns), cell(f.wrong),
          f.converged ? 1 : 0);
    }
    return text;
  }

  const CollectiveResult& c_;
  double bus_factor_ = 0;  // a single rank has no bus
  std::string front_;
};

}  // namespace

std::string collectives_csv(const RunResult& run) {
  std::string text =
      "run_id,case_id,outcome,complete,grade,operation,type,reduction,root,backend,device,launcher,hosts,"
      "ranks,threads,size_bytes,count,place,mode,n,time_ns,time_ns_ci_low,time_ns_ci_high,confidence,"
      "algbw_gb_per_s,busbw_gb_per_s,busbw_gb_per_s_ci_low,busbw_gb_per_s_ci_high,"
      "expected_busbw_gb_per_s,min_ns,mean_ns,max_ns,stddev_ns,p95_ns,p99_ns,wrong,converged\n";
  for (const auto& one : run.cases)
    if (one.collective()) text += CaseRows(run, one).rows();
  return text;
}

}  // namespace paceline::result
