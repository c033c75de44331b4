// SPDX-License-Identifier: MIT
#include "analysis/traces/trace_rows.h"

#include <algorithm>
#include <functional>
#include <map>
#include <utility>

#include "analysis/traces/source_words.h"

namespace paceline::analysis::traces {
namespace {

constexpr std::size_t kOperatorsShown = 15;

// Averages the steps that follow another one, as the costs do; all steps if none does.
template <typename Get>
Number mean_of(const RankTrace& one, Get get) {
  double sum = 0, all = 0;
  std::size_t count = 0;
  for (std::size_t i = 0; i < one.steps.size(); ++i) {
    const auto value = static_cast<double>(get(one.steps[i]));
    all += value;
    if (i == 0 || one.steps[i - 1].number + 1 != one.steps[i].number) continue;
    sum += value;
    ++count;
  }
  if (one.steps.empty()) return Number::missing("there is no step");
  return count > 0 ? sum / static_cast<double>(count) : all / static_cast<double>(one.steps.size());
}

// Where the trace has no marks for a part, it is unknown and not zero.
template <typename Get>
Number mean_if(bool known, const char* why, const RankTrace& one, Get get) {
  return known ? mean_of(one, get) : Number::missing(why);
}

Number idle_of(const RankTrace& one) {
  if (!one.device) return Number::missing("the trace has no events of a device");
  return mean_of(one, [](const TraceStep& s) {
    return s.length > 0 ? static_cast<double>(s.idle.value_or(0)) / static_cast<double>(s.length) : 0.0;
  });
}

constexpr const char* kNoShapes = "the trace has no shapes (record_shapes=True)";

bool has_shapes(const RankTrace& one) {
  return std::ranges::any_of(one.steps, [](const TraceStep& s) { return s.input_elements.has_value(); });
}

void add_kernels(std::map<std::string, KernelRow>& rows, const TraceOperator& op, double steps) {
  for (const auto& kernel : op.kernels) {
    auto& row = rows[kernel.name];
    row.calls += static_cast<double>(kernel.calls) / steps;
    row.device_ns += static_cast<double>(kernel.device_ns) / steps;
  }
}

std::vector<KernelRow> sorted_kernels(std::map<std::string, KernelRow>& by_name, double length) {
  std::vector<KernelRow> rows;
  for (auto& [name, row] : by_name) {
    row.name = name;
    row.share = length > 0 ? row.device_ns / length : 0;
    rows.push_back(std::move(row));
  }
  std::ranges::stable_sort(rows, std::greater{}, &KernelRow::device_ns);
  return rows;
}

// Mean length of one rank's steps.
double mean_length(const RankTrace& one) {
  double sum = 0;
  for (const auto& step : one.steps) sum += static_cast<double>(step.length);
  return sum / static_cast<double>(one.steps.size());
}

}  // namespace

bool times_communication(const RankTrace& one) {
  return one.communication == Communication::kHost || one.communication == Communication::kDevice;
}

const char* why_untimed(const RankTrace& one) {
  const auto& words = source_words(one);
  return one.communication == Communication::kNone ? words.no_communication : words.only_queued;
}

Number overlap_of(const std::vector<const RankTrace*>& ranks) {
  double all = 0, exposed = 0;
  for (const RankTrace* one : ranks) {
    if (!times_communication(*one)) return Number::missing(why_untimed(*one));
    for (const auto& step : one->steps)
      all += static_cast<double>(step.communication), exposed += static_cast<double>(step.exposed);
  }
  return all > 0 ? Number(1 - exposed / all) : Number::missing("the steps have no communication");
}

RankRow row_of(const RankTrace& one) {
  const bool timed = times_communication(one);
  const char* const untimed = why_untimed(one);
  const auto& words = source_words(one);
  return {
      .rank = *one.rank,
      .file = one.file,
      .host = one.host,
      .step_ns = mean_of(one, [](const TraceStep& s) { return s.length; }),
      .data_wait_ns =
          mean_if(one.has_loader, words.no_loader, one, [](const TraceStep& s) { return s.data_wait; }),
      .forward_ns =
          mean_if(one.has_forward, words.no_forward, one, [](const TraceStep& s) { return s.forward; }),
      .backward_ns =
          mean_if(one.has_backward, words.no_backward, one, [](const TraceStep& s) { return s.backward; }),
      .optimizer_ns =
          mean_if(one.has_optimizer, words.no_optimizer, one, [](const TraceStep& s) { return s.optimizer; }),
      .communication_ns = mean_if(timed, untimed, one, [](const TraceStep& s) { return s.communication; }),
      .exposed_ns = mean_if(timed, untimed, one, [](const TraceStep& s) { return s.exposed; }),
      .rest_ns = mean_of(one, [](const TraceStep& s) { return s.rest; }),
      .overlap_ratio = overlap_of({&one}),
      .idle_share = idle_of(one),
      .input_elements = mean_if(has_shapes(one), kNoShapes, one,
                                [](const TraceStep& s) { return s.input_elements.value_or(0); }),
      .batch =
          mean_if(has_shapes(one), kNoShapes, one, [](const TraceStep& s) { return s.batch.value_or(0); }),
      .last_share = Number::missing("there is one rank")};
}

std::vector<ExchangeRow> exchanges_of(const RankTrace& one, const std::set<std::int64_t>& numbers) {
  std::map<CallKind, ExchangeRow> sums;
  const auto steps = static_cast<double>(numbers.size());
  for (const auto& step : one.steps) {
    if (!numbers.contains(step.number)) continue;
    for (const auto& exchange : step.exchanges) {
      auto& sum = sums[exchange.kind];
      sum.kind = exchange.kind, sum.calls += 1 / steps;
      sum.length_ns += static_cast<double>(exchange.end - exchange.begin) / steps;
      sum.exposed_ns += static_cast<double>(exchange.exposed) / steps;
    }
  }
  std::vector<ExchangeRow> rows;
  for (const auto& [kind, row] : sums) rows.push_back(row);
  std::ranges::stable_sort(rows, std::greater{}, &ExchangeRow::exposed_ns);
  return rows;
}

std::vector<OperatorRow> operators_of(const std::vector<RankTrace>& ranks, bool on_device) {
  std::map<std::string, OperatorRow> all;
  std::map<std::string, std::map<std::string, KernelRow>> kernels;  // by operator
  double length = 0;
  const auto count = static_cast<double>(ranks.size());
  for (const auto& one : ranks) {
    length += mean_length(one) / count;
    const double steps = count * static_cast<double>(one.operator_steps);
    for (const auto& op : one.operators) {
      all[op.name].calls += static_cast<double>(op.calls) / steps;
      all[op.name].host_ns += static_cast<double>(op.host_ns) / steps;
      all[op.name].device_ns += static_cast<double>(op.device_ns) / steps;
      add_kernels(kernels[op.name], op, steps);
    }
  }
  const auto shown = on_device ? &OperatorRow::device_ns : &OperatorRow::host_ns;
  std::vector<OperatorRow> rows;
  for (auto& [name, row] : all) {
    row.name = name;
    row.share = length > 0 ? row.*shown / length : 0;
    rows.push_back(std::move(row));
  }
  std::ranges::stable_sort(rows, std::greater{}, shown);
  if (rows.size() > kOperatorsShown) rows.resize(kOperatorsShown);
  for (auto& row : rows) row.kernels = sorted_kernels(kernels[row.name], length);
  return rows;
}

}  // namespace paceline::analysis::traces
