// SPDX-License-Identifier: MIT
// The data of the charts.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <utility>

#include "analysis/case_query.h"
#include "base/text.h"
#include "base/units.h"
#include "report/case_cells.h"
#include "report/decimate.h"
#include "report/html_parts.h"
#include "result/metric_table.h"
#include "result/summarize_collective.h"
#include "result/training_scaling.h"

namespace paceline::report {
namespace {

using Json = nlohmann::json;
using result::Sample;

constexpr double kToMs = 1e-6;

// Six digits are more than a chart can show.
Json rounded(double value) {
  if (value == 0 || !std::isfinite(value)) return value == 0 ? Json(0) : Json(nullptr);
  const double scale = std::pow(10, 5 - std::floor(std::log10(std::abs(value))));
  return std::round(value * scale) / scale;
}
Json rounded(const result::Number& number, double scale = 1) {
  return number ? rounded(*number * scale) : Json(nullptr);
}

Json interval(const result::Estimate& e, double scale = 1) {
  return {rounded(e.value, scale), rounded(e.ci_low, scale), rounded(e.ci_high, scale)};
}

// Keys as words: "max batch 4"; a variable keeps its name as in a shell.
std::string param_words(std::string_view key, const std::string& value) {
  constexpr std::string_view kVariable = "env.";
  if (key.starts_with(kVariable)) return fmt::format("{}={}", key.substr(kVariable.size()), value);
  std::string words(key);
  std::ranges::replace_if(
      words, [](char c) { return c == '_' || c == '.'; }, ' ');
  return words + " " + value;
}

using Params = std::map<std::string, std::string>;

// What all cases of the page have alike tells no two lines apart.
Params params_in_common(std::span<const ReportCase> entries) {
  if (entries.size() < 2) return {};
  Params common = entries.front().one->benchmark.params;
  for (const ReportCase& entry : entries)
    std::erase_if(common,
                  [&](const auto& param) { return !std::ranges::count(entry.one->benchmark.params, param); });
  return common;
}

// Engine, precision and whatever else distinguishes the lines of one chart.
std::string series_name(const ReportCase& entry, const Params& common) {
  result::Benchmark b = entry.one->benchmark;
  const bool trains = !entry.one->training.empty();
  std::string name = trains ? fmt::format("{} r{}", b.precision, b.world_size) : b.engine + " " + b.precision;
  if (b.layout != "contiguous") name += " " + b.layout;
  name = trim(name);
  const bool nameless = name.empty();  // a kind without engines has parameters only
  for (const auto& [key, value] : b.params)
    if (nameless || !common.contains(key)) name += " " + param_words(key, value);
  name = trim(name);
  return entry.letter.empty() ? name : entry.letter + ": " + name;
}

Json speedup_json(const result::RunResult& run, const CaseResult& one) {
  const auto& s = one.speedup;
  if (!is_compared(one)) return nullptr;
  const CaseResult* baseline = analysis::find_case(run, s.baseline_case_id);
  return {{"ratio", interval(s.ratio)},
          {"claimed", analysis::may_claim(s)},
          {"pairs", s.pairs},
          {"scope", s.scope},
          {"baseline", baseline ? baseline->label : s.baseline_case_id}};
}

Json series_json(const std::vector<double>& values, std::size_t max_points) {
  Json series = {{"index", Json::array()}, {"ms", Json::array()}};
  for (const std::size_t at : decimate(values, max_points)) {
    series["index"].push_back(at + 1);
    series["ms"].push_back(rounded(values[at]));
  }
  return series;
}

Json histogram_json(const std::vector<double>& values) {
  const Histogram h = histogram(values);
  return {{"low", h.low}, {"bin_width", h.bin_width}, {"counts", h.counts}, {"beyond", h.beyond}};
}

// Begin and end of each repetition in the series, its median, and why it may be disturbed, as indices into
// `warnings`, because most repetitions are disturbed alike.
Json repetitions_json(const CaseResult& one, const std::vector<Sample>& samples,
                      std::vector<std::string>& warnings) {
  Json list = Json::array();
  for (const auto& repetition : one.repetitions) {
    std::size_t first = samples.size(), last = 0;
    for (std::size_t at = 0; at < samples.size(); ++at)
      if (samples[at].repetition == repetition.index) first = std::min(first, at), last = at;
    if (first == samples.size()) continue;
    Json why = Json::array();
    for (const auto& warning : repetition.noise.warnings) why.push_back(place_of(warning, warnings));
    list.push_back({{"number", repetition.index + 1},
                    {"from", first + 1},
                    {"to", last + 1},
                    {"p50", rounded(repetition.p50_ns, kToMs)},
                    {"warnings", std::move(why)}});
  }
  return list;
}

Json samples_json(const ReportCase& entry, std::size_t max_points) {
  const auto found = entry.run->samples.find(entry.one->case_id);
  if (found == entry.run->samples.end()) return nullptr;
  std::vector<Sample> samples = found->second;  // those behind the statistics: no warm-up, no lost requests
  std::erase_if(samples, [](const Sample& sample) { return !sample.counts() || sample.lost(); });
  if (samples.empty()) return nullptr;
  std::vector<double> values;
  for (const Sample& sample : samples) values.push_back(static_cast<double>(sample.host_ns) * kToMs);
  const Json p99 = p99_reason(*entry.one).empty()
                       ? rounded(*result::find_metric("p99_ms")->get(*entry.one).value)
                       : Json(nullptr);
  std::vector<std::string> warnings;
  Json repetitions = repetitions_json(*entry.one, samples, warnings);
  return {{"series", series_json(values, max_points)},
          {"histogram", histogram_json(values)},
          {"repetitions", std::move(repetitions)},
          {"warnings", warnings},
          {"p99", p99},
          {"total", values.size()}};
}

// The cost in answers against FP32, in words; empty where nothing was compared.
std::string accuracy_text(const CaseResult& one) {
  const auto& c = one.correctness;
  if (!c.centred_cosine) return {};
  return fmt::format("centred cosine {:.4f}{}", *c.centred_cosine,
                     c.top1_agreement ? fmt::format(", top-1 {}", format_percent(*c.top1_agreement, 1)) : "");
}

// Loss and accuracy in training and on held-out data, one point per epoch; null for a single epoch.
Json epochs_json(const result::Training& t) {
  if (t.epochs.size() < 2) return nullptr;
  Json points = Json::array();
  for (const auto& e : t.epochs)
    points.push_back({{"epoch", e.epoch + 1},
                      {"loss", rounded(e.loss)},
                      {"accuracy", rounded(e.accuracy)},
                      {"held_out_loss", rounded(e.eval_loss)},
                      {"held_out_accuracy", rounded(e.eval_accuracy)}});
  return points;
}

// The efficiency, or the reason why it may not be claimed; null without a case of fewer ranks.
Json scaling_json(const result::RunResult& run, const CaseResult& one) {
  if (one.scaling.empty()) return nullptr;
  const auto& s = one.scaling.front();
  const std::string doubt = result::scaling_doubt(one, analysis::find_case(run, s.base_case_id));
  return {{"base", s.base_case_id},
          {"base_world", s.base_world},
          {"efficiency", doubt.empty() ? interval(result::efficiency_of(one)) : Json(nullptr)},
          {"doubt", doubt}};
}

// Means of the parts of a step, as shares of the mean step, so that their bar is no longer than it. Medians
// for results of versions without shares.
Json parts_json(const CaseResult& one) {
  const auto& training = one.training.front();
  const auto& p = training.parts;
  const auto& s = training.shares;
  const bool means = result::has_shares(training) && one.stats.mean_ns;
  Json parts = Json::array();
  for (const auto& [share, median] :
       {std::pair(&s.data_wait, &p.data_wait_ns), std::pair(&s.input, &p.input_ns),
        std::pair(&s.forward, &p.forward_ns), std::pair(&s.backward, &p.backward_ns),
        std::pair(&s.exposed, &p.exposed_ns), std::pair(&s.optimizer, &p.optimizer_ns)})
    parts.push_back(means ? rounded(*share, *one.stats.mean_ns * kToMs) : rounded(*median, kToMs));
  return parts;
}

// Where the time of a step goes, and how it scales; null for cases that did not train.
Json training_json(const ReportCase& entry) {
  const CaseResult& one = *entry.one;
  if (one.training.empty()) return nullptr;
  return {{"world", one.benchmark.world_size},
          {"case", one.case_id},
          {"parts", parts_json(one)},
          {"epochs", epochs_json(one.training.front())},
          {"scaling", scaling_json(entry.run->result, one)}};
}

// Bus bandwidth by size, measured and fitted; null for cases without a bus.
Json collective_json(const CaseResult& one) {
  if (one.collective.empty()) return nullptr;
  const auto& c = one.collective.front();
  Json points = Json::array();
  for (const auto& size : c.sizes) {
    const auto& f = size.out_of_place;
    if (!f.sync_busbw_gb_per_s.value) continue;
    points.push_back({{"bytes", size.bytes},
                      {"busbw", interval(f.sync_busbw_gb_per_s)},
                      {"us", interval(f.sync_ns, 1e-3)},
                      {"fitted", rounded(result::fitted_busbw(c, size.bytes))}});
  }
  return points.empty() ? Json(nullptr) : points;
}

// Means of the stages of a request; null unless the case is a server.
Json stages_json(const CaseResult& one) {
  if (one.benchmark.scenario != "server" || one.load.empty() || one.load.front().stages.empty())
    return nullptr;
  Json stages = Json::array();
  for (const auto& stage : one.load.front().stages)
    stages.push_back({{"name", stage.name}, {"ms", rounded(stage.mean_ns, kToMs)}});
  return stages;
}

// Cases that no other case of their model beats in latency and throughput, of all runs.
std::set<const CaseResult*> fronts(std::span<const ReportRun> runs) {
  std::set<const CaseResult*> found;
  for (const ReportRun& run : runs) {
    std::set<std::string_view> models;
    for (const auto& one : run.result.cases)
      if (models.insert(one.benchmark.model).second)
        for (const auto* best : analysis::pareto_front(run.result, one.benchmark.model)) found.insert(best);
  }
  return found;
}

Json case_json(const ReportCase& entry, const Params& common, bool on_front, std::size_t max_points) {
  const CaseResult& one = *entry.one;
  const auto& memory = one.memory.rss_peak_above_load_bytes;
  return {{"id", case_anchor(entry)},
          {"label", entry.letter.empty() ? one.label : entry.letter + ": " + one.label},
          {"model", one.benchmark.model},
          {"series", series_name(entry, common)},
          {"batch", one.benchmark.batch_per_rank},
          {"p50", interval(one.headline.p50_ns, kToMs)},
          {"rate", interval(one.throughput.per_s)},
          {"item", one.throughput.item},
          {"speedup", speedup_json(entry.run->result, one)},
          {"memory", memory ? rounded(static_cast<double>(*memory) * 1e-6) : Json(nullptr)},
          {"peak", rounded(one.flops.share_of_measured_peak)},
          {"accuracy", accuracy_text(one)},
          {"front", on_front},
          {"training", training_json(entry)},
          {"collective", collective_json(one)},
          {"server", one.benchmark.scenario == "server"},
          {"stages", stages_json(one)},
          {"samples", samples_json(entry, max_points)}};
}

}  // namespace

Json chart_data(std::span<const ReportRun> runs, const RenderOptions& options) {
  Json data = {{"unit", throughput_head(side_by_side(runs.first(1)))}, {"cases", Json::array()}};
  const auto entries = side_by_side(runs);
  const auto common = params_in_common(entries);
  const auto best = fronts(runs);
  for (const ReportCase& entry : entries)
    if (analysis::is_ok(*entry.one))
      data["cases"].push_back(case_json(entry, common, best.contains(entry.one), options.max_points));
  return data;
}

}  // namespace paceline::report
