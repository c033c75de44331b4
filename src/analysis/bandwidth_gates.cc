// SPDX-License-Identifier: MIT
#include "analysis/bandwidth_gates.h"

#include <fmt/format.h>

#include <algorithm>

#include "analysis/case_query.h"
#include "base/error.h"
#include "base/text.h"
#include "base/units.h"

namespace paceline::analysis {
namespace {

struct BandwidthGate {
  std::string expression;
  result::LeastBandwidth least;
};

// nccl-tests compares the mean over all sizes, in which small ones drown it; here it holds for the largest.
std::vector<BandwidthGate> bandwidths_of(const result::CollectiveResult& c, const std::string& nccl_min) {
  std::vector<BandwidthGate> gates;
  for (const auto& least : c.least_busbw)
    gates.push_back({fmt::format("min_busbw {}:{:g}", least.bytes, least.gb_per_s), least});
  if (nccl_min.empty()) return gates;
  gates.push_back({"NCCL_TESTS_MIN_BW=" + nccl_min, {c.sizes.back().bytes, least_of_nccl_tests(nccl_min)}});
  return gates;
}

// A size is rounded to whole elements, of which every rank has as many; none is larger than 8 bytes.
std::int64_t rounding_of(const result::CollectiveResult& c) {
  return 8 * std::max<std::int64_t>(1, std::ssize(c.ranks));
}

result::GateResult decide_bandwidth(const BandwidthGate& gate, const CaseResult& one) {
  const auto& least = gate.least;
  result::GateResult decided{gate.expression, one.case_id, "min_busbw", answer::Verdict::kCannotSay, ""};
  const auto& sizes = one.collective()->sizes;
  const auto distance = [&](const auto& s) { return std::abs(s.bytes - least.bytes); };
  const auto size = std::ranges::min_element(sizes, {}, distance);
  if (distance(*size) >= rounding_of(*one.collective())) {
    decided.detail = fmt::format("{}: {} bytes are not among its sizes", one.label, least.bytes);
    return decided;
  }
  const auto& rate = size->out_of_place.sync_busbw_gb_per_s;
  if (!rate.value || !rate.ci_low || !rate.ci_high) {
    decided.detail = fmt::format("{}: no interval at {} bytes: {}", one.label, size->bytes,
                                 rate.value ? rate.ci_low.reason() : rate.value.reason());
    return decided;
  }
  decided.verdict = *rate.ci_low >= least.gb_per_s   ? answer::Verdict::kYes
                    : *rate.ci_high < least.gb_per_s ? answer::Verdict::kNo
                                                     : answer::Verdict::kCannotSay;
  decided.detail = fmt::format("{}: {} GB/s ({}) at {} bytes, {} wanted", one.label,
                               format_significant(*rate.value), format_range(*rate.ci_low, *rate.ci_high, 3),
                               size->bytes, format_significant(least.gb_per_s));
  return decided;
}

}  // namespace

double least_of_nccl_tests(const std::string& nccl_min) {
  constexpr double kTolerated = 0.9;
  const auto value = parse_double(nccl_min);
  if (!value)
    throw Error(ErrorCode::kUsage, fmt::format("NCCL_TESTS_MIN_BW={}: it is not a number of GB/s", nccl_min));
  return kTolerated * *value;
}

std::vector<result::GateResult> bandwidth_gates(const result::RunResult& run, const std::string& nccl_min) {
  std::vector<result::GateResult> decided;
  for (const CaseResult& one : run.cases) {
    if (!is_ok(one) || !one.collective() || one.collective()->sizes.empty()) continue;
    for (const auto& gate : bandwidths_of(*one.collective(), nccl_min))
      decided.push_back(decide_bandwidth(gate, one));
  }
  return decided;
}

}  // namespace paceline::analysis
