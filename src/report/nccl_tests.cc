// SPDX-License-Identifier: MIT
// Writes collectives as nccl-tests does, so that scripts which read its output need no change: what stands
// under its headers is computed its way (one batch, mean over ranks).
#include "report/nccl_tests.h"

#include <fmt/format.h>

#include "analysis/case_query.h"
#include "base/display_text.h"
#include "base/text.h"
#include "result/stored/result_json.h"

namespace paceline::report {
namespace {

using result::CollectiveFigures;
using result::CollectiveResult;
using result::CollectiveSizeFigures;
using Json = nlohmann::json;

constexpr double kToMicroseconds = 1e-3;

std::vector<ReportCase> swept(std::span<const ReportRun> runs) {
  return cases_with(runs, [](const CaseResult& one) { return one.collective() != nullptr; });
}

// As many digits as seven columns hold.
std::string time_text(const Number& ns) {
  if (!ns) return "N/A";
  const double us = *ns * kToMicroseconds;
  return us >= 10'000'000 ? fmt::format("{:.3e}", us)
         : us >= 100'000  ? fmt::format("{:.0f}", us)
         : us >= 10'000   ? fmt::format("{:.1f}", us)
                          : fmt::format("{:.2f}", us);
}
std::string rate_text(const Number& gb_per_s) {
  return gb_per_s ? fmt::format("{:.2f}", *gb_per_s) : "N/A";
}

std::string place_text(const CollectiveFigures& f) {
  return fmt::format("  {:>8}  {:>6}  {:>6}  {:>5}", time_text(f.batch_ns), rate_text(f.batch_algbw_gb_per_s),
                     rate_text(f.batch_busbw_gb_per_s), f.wrong ? std::to_string(*f.wrong) : "N/A");
}

std::string root_of(const CollectiveResult& c) {
  return c.root ? std::to_string(*c.root) : "-1";
}

// Where a rank ran: its device, or its CPUs.
std::string device_of(const CaseResult& one, const result::CollectiveRank& rank) {
  if (!one.benchmark.device.empty()) return one.benchmark.device;
  return rank.cpus.empty() ? "cpu" : "cpu " + rank.cpus;
}

// False where a sweep has stopped at one of its sizes.
bool has_ended(const CaseResult& one) {
  return one.outcome == result::Outcome::kOk || !one.repetitions.empty();
}

std::string table_of(const ReportCase& entry) {
  const auto& c = *entry.one->collective();
  std::string text = nccl_head(entry);
  for (const auto& size : c.sizes) text += nccl_row(c, size);
  return text + nccl_foot(*entry.one);
}

Json or_null(const Number& number, double scale = 1) {
  return number ? Json(*number * scale) : Json(nullptr);
}

Json or_null(const Count& count) {
  return count ? Json(*count) : Json(nullptr);
}

Json place_json(const CollectiveFigures& f) {
  if (!f.n) return nullptr;
  return {{"time", or_null(f.batch_ns, kToMicroseconds)},
          {"alg_bw", or_null(f.batch_algbw_gb_per_s)},
          {"bus_bw", or_null(f.batch_busbw_gb_per_s)},
          {"nwrong", or_null(f.wrong)}};
}

// nccl-tests has no intervals: they are keys of our own.
Json per_iteration(const CollectiveFigures& f) {
  if (!f.n) return nullptr;
  const auto& spread = f.sync_spread;
  return {{"iterations", *f.n},
          {"p50_us", or_null(f.sync_ns.value, kToMicroseconds)},
          {"p50_ci_low_us", or_null(f.sync_ns.ci_low, kToMicroseconds)},
          {"p50_ci_high_us", or_null(f.sync_ns.ci_high, kToMicroseconds)},
          {"min_us", or_null(spread.min_ns, kToMicroseconds)},
          {"max_us", or_null(spread.max_ns, kToMicroseconds)},
          {"avg_us", or_null(spread.mean_ns, kToMicroseconds)},
          {"stdev_us", or_null(spread.stddev_ns, kToMicroseconds)},
          {"cv_pct", spread.stddev_ns && spread.mean_ns ? Json(100 * *spread.stddev_ns / *spread.mean_ns)
                                                        : Json(nullptr)},
          {"p95_us", or_null(spread.p95_ns, kToMicroseconds)},
          {"p99_us", or_null(f.sync_p99_ns, kToMicroseconds)},
          {"skipped_iterations", 0},
          {"bus_bw_p50", or_null(f.sync_busbw_gb_per_s.value)}};
}

Json size_json(const CollectiveResult& c, const CollectiveSizeFigures& size) {
  return {{"size", size.bytes},
          {"count", size.count},
          {"type", c.dtype.empty() ? "none" : c.dtype},
          {"redop", c.reduction.empty() ? "none" : c.reduction},
          {"root", root_of(c)},
          {"out_of_place", place_json(size.out_of_place)},
          {"in_place", place_json(size.in_place)},
          {"out_of_place_per_iter", per_iteration(size.out_of_place)},
          {"in_place_per_iter", per_iteration(size.in_place)},
          {"expected_bus_bw", or_null(size.expected_busbw_gb_per_s)}};
}

Json setting(const CaseResult& one, const char* name) {
  const auto found = one.config_effective.find(name);
  return found == one.config_effective.end() ? Json(nullptr) : *found;
}

Json config_json(const ReportCase& entry) {
  const CaseResult& one = *entry.one;
  const auto& c = *one.collective();
  Json devices = Json::array();
  for (const auto& r : c.ranks)
    devices.push_back({{"rank", r.rank},
                       {"group", 0},
                       {"pid", r.process_id},
                       {"hostname", r.host},
                       {"device", device_of(one, r)}});
  Json config{{"nthreads", 1},
              {"ngpus", 1},
              {"minimum_bytes", setting(one, "min_bytes")},
              {"maximum_bytes", setting(one, "max_bytes")},
              {"warmup_iters", setting(one, "warmup_iterations")},
              {"iterations", setting(one, "iterations")},
              {"aggregated_iterations", 1},
              {"validation", c.wrong ? 1 : 0},
              {"graph", 0},
              {"blocking_collectives", 0},
              {"per_iter_timing", true},
              {"per_iter_skip", 0},
              {"parallel_init", 0},
              {"devices", devices}};
  const bool by_bytes = one.config_effective.contains("step_bytes");
  config[by_bytes ? "step_bytes" : "step_factor"] = setting(one, by_bytes ? "step_bytes" : "step_factor");
  return config;
}

Json document_of(const ReportCase& entry) {
  const auto& run = entry.run->result;
  const auto& c = *entry.one->collective();
  Json results = Json::array();
  for (const auto& size : c.sizes) results.push_back(size_json(c, size));
  Json errors = Json::array();
  if (!has_ended(*entry.one)) errors.push_back(entry.one->reason);
  return {{"version", "paceline " + run.suite.version},
          {"start_time", run.started_utc},
          {"args", split(run.command_line, ' ')},
          {"env", Json::array()},
          {"nccl_version", nullptr},
          {"collective", c.operation},
          {"config", config_json(entry)},
          {"results", results},
          {"out_of_bounds",
           {{"count", or_null(c.wrong)}, {"okay", c.wrong ? Json(*c.wrong == 0) : Json(nullptr)}}},
          {"average_bus_bandwidth", {{"bandwidth", or_null(c.average_busbw_gb_per_s)}, {"okay", nullptr}}},
          {"errors", errors},
          {"end_time", run.finished_utc}};
}

}  // namespace

std::string nccl_title(const std::string& title, const std::string& run_id) {
  return fmt::format("# {} {}\n", title, run_id);
}

std::string nccl_head(const ReportCase& entry) {
  std::string text = fmt::format("# {}\n", name_of(entry));
  for (const auto& r : entry.one->collective()->ranks)
    text += fmt::format("#  Rank {:>2} Pid {:>6} on {:>10} device {}\n", r.rank, r.process_id, r.host,
                        device_of(*entry.one, r));
  text += fmt::format("#\n#{:>53}{:>34}\n", "out-of-place", "in-place");
  text += fmt::format(
      "#{:>11}  {:>12}  {:>8}  {:>6}  {:>6}  {:>8}  {:>6}  {:>6}  {:>5}  {:>8}  {:>6}  {:>6}  {:>5}\n",
      "size", "count", "type", "redop", "root", "time", "algbw", "busbw", "#wrong", "time", "algbw", "busbw",
      "#wrong");
  return text +
         fmt::format(
             "#{:>11}  {:>12}  {:>8}  {:>6}  {:>6}  {:>8}  {:>6}  {:>6}  {:>5}  {:>8}  {:>6}  {:>6}  {:>5}\n",
             "(B)", "(elements)", "", "", "", "(us)", "(GB/s)", "(GB/s)", "", "(us)", "(GB/s)", "(GB/s)", "");
}

std::string nccl_row(const CollectiveResult& c, const CollectiveSizeFigures& size) {
  return fmt::format("{:>12}  {:>12}  {:>8}  {:>6}  {:>6}{}{}\n", size.bytes, size.count,
                     c.dtype.empty() ? "none" : c.dtype, c.reduction.empty() ? "none" : c.reduction,
                     root_of(c), place_text(size.out_of_place), place_text(size.in_place));
}

std::string nccl_foot(const CaseResult& one) {
  const auto& c = *one.collective();
  auto text =
      has_ended(one) ? std::string() : fmt::format("# Incomplete           : {}\n", on_one_line(one.reason));
  text += c.wrong ? fmt::format("# Out of bounds values : {} {}\n", *c.wrong, *c.wrong == 0 ? "OK" : "FAILED")
                  : std::string("# Out of bounds values : N/A NOT CHECKED\n");
  return text +
         fmt::format("# Avg bus bandwidth    : {}\n#\n",
                     c.average_busbw_gb_per_s ? fmt::format("{:.6g}", *c.average_busbw_gb_per_s) : "N/A");
}

std::string render_nccl(std::span<const ReportRun> runs, const RenderOptions&) {
  std::string text;
  for (const auto& run : runs) text += nccl_title(title_of(run.result), run.result.run_id);
  for (const auto& entry : swept(runs)) text += table_of(entry);
  return without_controls(text, "\n");
}

// One document, as of one program; a list where several operations were swept, or none.
std::string render_nccl_json(std::span<const ReportRun> runs, const RenderOptions&) {
  Json all = Json::array();
  for (const auto& entry : swept(runs)) all.push_back(document_of(entry));
  for (const auto& run : runs)
    if (swept({&run, 1}).empty())
      all.push_back(
          {{"errors",
            {fmt::format("no collective was measured in {} {}", title_of(run.result), run.result.run_id)}},
           {"results", Json::array()}});
  return result::json_text(all.size() == 1 ? all.front() : all);
}

}  // namespace paceline::report
