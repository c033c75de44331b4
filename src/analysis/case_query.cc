// SPDX-License-Identifier: MIT
#include "analysis/case_query.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "analysis/ratio_verdict.h"
#include "base/lower_case.h"
#include "base/text.h"
#include "base/units.h"
#include "result/figures/peak_memory.h"
#include "result/judged/noise_rules.h"
#include "result/judged/reference.h"
#include "result/stored/benchmark_params.h"

namespace paceline::analysis {
namespace {

using result::Benchmark;
using result::OutputDoubt;

struct Axis {
  std::string_view name;
  std::string (*value)(const Benchmark&);
};

std::string params_text(const Benchmark& benchmark, std::string_view but = {}) {
  std::vector<std::string> parts;
  for (const auto& [key, value] : result::parameters_of(benchmark))
    if (key != but) parts.push_back(fmt::format("{}={}", key, value));
  return join(parts, " ");
}

const std::array<Axis, 11> kAxes{{
    {"model", [](const Benchmark& b) { return b.model; }},
    {"engine", [](const Benchmark& b) { return b.engine; }},
    {"precision", [](const Benchmark& b) { return b.precision; }},
    {"layout", [](const Benchmark& b) { return b.layout; }},
    {"batch", [](const Benchmark& b) { return std::to_string(b.batch_per_rank); }},
    {"world_size", [](const Benchmark& b) { return std::to_string(b.world_size); }},
    {"threads", [](const Benchmark& b) { return plural(b.threads, "thread"); }},
    {"scenario", [](const Benchmark& b) { return std::string(traits_of(b.scenario).name); }},
    {"timing_mode", [](const Benchmark& b) { return b.timing_mode; }},
    {"kind", [](const Benchmark& b) { return std::string(traits_of(b.kind).name); }},
    {"params", [](const Benchmark& b) { return params_text(b); }},
}};

double effect(const CaseResult& one) {
  return one.speedup.ratio.value ? std::abs(std::log(*one.speedup.ratio.value)) : 0;
}

}  // namespace

bool is_ok(const CaseResult& one) {
  return one.outcome == result::Outcome::kOk;
}

bool is_timed_on_gpu(const CaseResult& one) {
  return is_ok(one) && result::on_device(one.benchmark) && !one.load() &&
         !traits_of(one.benchmark.kind).sweeps;
}

bool has_fault(const CaseResult& one) {
  return !one.benchmark.fault.empty();
}

const CaseResult* find_case(const RunResult& run, std::string_view case_id) {
  const auto found = std::find_if(run.cases.begin(), run.cases.end(),
                                  [&](const auto& one) { return one.case_id == case_id; });
  return found == run.cases.end() ? nullptr : &*found;
}

bool may_claim(const result::SpeedUp& speedup) {
  const auto& [value, low, high, confidence, method] = speedup.ratio;
  if (speedup.scope != result::kBetweenProcess || speedup.pairs < kPairsForClaim) return false;
  if (!speedup.no_size.empty())
    return speedup.verdict == result::Speed::kFaster || speedup.verdict == result::Speed::kSlower;
  if (!value || !low || !high) return false;
  if (speedup.verdict == result::Speed::kFaster) return *low > 1;
  return speedup.verdict == result::Speed::kSlower && *high < 1;
}

bool inconclusive(const CaseResult& one) {
  if (!is_ok(one) || one.headline.scope == result::kBetweenProcess) return false;
  return std::any_of(one.repetitions.begin(), one.repetitions.end(),
                     [](const auto& r) { return r.converged && !*r.converged; });
}

namespace {

bool unchecked_on_purpose(const CaseResult& one) {
  const auto& config = one.config_effective;
  return config.is_object() && config.value("accuracy.check", nlohmann::json()) == "off";
}

}  // namespace

std::string open_question(const CaseResult& one, bool strict) {
  if (!is_ok(one)) return {};
  if (one.cross_check.asked && !one.cross_check.ratio.value) return "its cross-check gave no ratio";
  if (!strict) return {};
  if (inconclusive(one)) return "its interval is not as narrow as asked";
  const auto remark = result::check_remark(one);
  const bool unknown = remark.doubt == OutputDoubt::kUndecided ||
                       (remark.doubt == OutputDoubt::kNotChecked && !unchecked_on_purpose(one));
  return unknown ? fmt::format("outputs: {} ({})", remark.word(), remark.why) : "";
}

bool is_baseline(const RunResult& run, const CaseResult& one) {
  return std::any_of(run.cases.begin(), run.cases.end(),
                     [&](const CaseResult& other) { return other.speedup.baseline_case_id == one.case_id; });
}

std::vector<const CaseResult*> pareto_front(const RunResult& run, std::string_view model) {
  std::vector<const CaseResult*> all, front;
  for (const auto& one : run.cases)
    if (is_ok(one) && one.benchmark.model == model && one.headline.p50_ns.value && one.throughput.per_s.value)
      all.push_back(&one);
  const auto beats = [](const CaseResult& a, const CaseResult& b) {
    const double slower = *a.headline.p50_ns.value - *b.headline.p50_ns.value;
    const double wider = *a.throughput.per_s.value - *b.throughput.per_s.value;
    return slower <= 0 && wider >= 0 && (slower < 0 || wider > 0);
  };
  for (const auto* one : all)
    if (std::none_of(all.begin(), all.end(), [&](const auto* other) { return beats(*other, *one); }))
      front.push_back(one);
  std::sort(front.begin(), front.end(), [](const auto* a, const auto* b) {
    return *a->headline.p50_ns.value < *b->headline.p50_ns.value;
  });
  return front;
}

bool beaten(const RunResult& run, const CaseResult& one) {
  return std::any_of(run.cases.begin(), run.cases.end(), [&](const CaseResult& other) {
    if (&other == &one || !is_ok(other) || other.benchmark.model != one.benchmark.model) return false;
    return judge_ratio(run, Figure::kRate, other, one).above() &&
           judge_ratio(run, Figure::kLatency, one, other).above();
  });
}

std::vector<std::string> differing_axes(const Benchmark& a, const Benchmark& b) {
  std::vector<std::string> names;
  for (const Axis& axis : kAxes)
    if (axis.value(a) != axis.value(b)) names.emplace_back(axis.name);
  return names;
}

std::string axis_value(const Benchmark& benchmark, std::string_view name) {
  for (const Axis& axis : kAxes)
    if (axis.name == name) return axis.value(benchmark);
  return {};
}

std::string differing_params(const Benchmark& one, std::span<const CaseResult* const> among) {
  std::vector<std::string> parts;
  for (const auto& parameter : result::parameters_of(one)) {
    const auto same = [&](const CaseResult* other) {
      const auto theirs = result::parameters_of(other->benchmark);
      const auto found = theirs.find(parameter.first);
      return found != theirs.end() && found->second == parameter.second;
    };
    if (!std::ranges::all_of(among, same))
      parts.push_back(fmt::format("{}={}", parameter.first, parameter.second));
  }
  return join(parts, " ");
}

std::vector<Comparison> comparisons(const RunResult& run, std::string_view axis) {
  std::vector<Comparison> found;
  for (const CaseResult& one : run.cases) {
    const CaseResult* baseline = find_case(run, one.speedup.baseline_case_id);
    if (!baseline || baseline == &one || !is_ok(one) || !is_ok(*baseline)) continue;
    if (differing_axes(one.benchmark, baseline->benchmark) == std::vector{std::string(axis)})
      found.push_back({&one, baseline});
  }
  std::stable_sort(found.begin(), found.end(),
                   [](const Comparison& a, const Comparison& b) { return effect(*a.one) > effect(*b.one); });
  return found;
}

CaseResult against(const RunResult& run, const CaseResult& one, const CaseResult& base) {
  CaseResult compared = one;
  if (compared.speedup.baseline_case_id != base.case_id)
    result::compare_to_baseline(compared, base, one.headline.p50_ns.confidence,
                                result::smallest_difference(result::profile_of(one)), run.resumed_utc);
  return compared;
}

std::string describe_without(const Benchmark& b, std::string_view axis) {
  std::vector<std::string> words;
  const auto add = [&](std::string_view name, std::string text) {
    if (name != axis && !text.empty()) words.push_back(std::move(text));
  };
  add("precision", b.precision);
  add("engine", b.engine);
  add("model", b.model);
  if (b.layout != "contiguous") add("layout", "in " + b.layout);
  if (const auto& arrival = traits_of(b.scenario); !arrival.one_at_a_time)
    add("scenario", fmt::format("in scenario {}", arrival.name));
  add("params", params_text(b, "input_values"));  // which nobody chooses a case by
  add("batch", "at batch " + std::to_string(b.batch_per_rank));
  if (traits_of(b.kind).trains) add("world_size", "on " + plural(b.world_size, "rank"));
  return join(words, " ");
}

std::string format_range(double low, double high, int digits) {
  return fmt::format("{}–{}", format_significant(low, digits), format_significant(high, digits));
}

bool has_interval(const result::Estimate& estimate) {
  return estimate.value && estimate.ci_low && estimate.ci_high;
}

std::string format_range_of(const result::Estimate& estimate) {
  if (!estimate.ci_low || !estimate.ci_high) return {};
  return format_range(*estimate.ci_low, *estimate.ci_high);
}

result::Estimate rate_of(const CaseResult& one) {
  if (!traits_of(one.benchmark.scenario).rate_is_offered) return one.throughput.per_s;
  result::Estimate e;
  if (one.load()) e.value = one.load()->saturation_per_s;
  return e;
}

std::string rate_words(const CaseResult& one) {
  const result::Estimate rate = rate_of(one);
  const bool server = traits_of(one.benchmark.scenario).rate_is_offered;
  const std::string range = format_range_of(rate);
  return fmt::format("{} {}/s{}{}", format_rate(*rate.value), server ? "requests" : one.throughput.item,
                     server ? " at saturation" : "", range.empty() ? "" : " (" + range + ")");
}

std::string p50_words(const CaseResult& one) {
  const auto& p50 = one.headline.p50_ns.value;
  return p50 ? "p50 " + format_duration_ns(*p50) : "p50 unknown";
}

std::string list_labels(const std::vector<const CaseResult*>& cases, std::size_t shown) {
  std::vector<std::string> labels;
  for (const CaseResult* one : cases)
    if (labels.size() < shown) labels.push_back(one->label);
  std::string text = join(labels, ", ");
  if (cases.size() > shown) text += fmt::format(" and {} more", cases.size() - shown);
  return text;
}

// Numbers of the cases as --dry-run lists them, consecutive ones as a range: "1-3,5".
static std::string case_numbers(const RunResult& run, const std::vector<std::string>& ids) {
  std::vector<std::string> parts;
  for (std::size_t at = 0; at < run.cases.size(); ++at) {
    const auto asked = [&](std::size_t i) {
      return i < run.cases.size() && std::find(ids.begin(), ids.end(), run.cases[i].case_id) != ids.end();
    };
    if (!asked(at)) continue;
    const std::size_t first = at;
    while (asked(at + 1)) ++at;
    parts.push_back(at == first ? std::to_string(first + 1) : fmt::format("{}-{}", first + 1, at + 1));
  }
  return join(parts, ",");
}

// $'…' of bash and zsh, in which control characters are spelled out.
static std::string ansi_word(const std::string& text) {
  std::string quoted = "$'";
  for (const char c : text) {
    if (c == '\'' || c == '\\') quoted += '\\';
    quoted += static_cast<unsigned char>(c) < ' ' ? fmt::format("\\x{:02x}", c) : std::string(1, c);
  }
  return quoted + "'";
}

std::string shell_word(const std::string& text) {
  const bool plain = std::all_of(text.begin(), text.end(), [](char c) {
    return is_letter_or_digit(c) || std::string_view("._/+-,:=@%").find(c) != std::string_view::npos;
  });
  if (plain && !text.empty()) return text;
  if (std::ranges::any_of(text, [](char c) { return static_cast<unsigned char>(c) < ' '; }))
    return ansi_word(text);
  std::string quoted = "'";
  for (const char c : text) quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return quoted + "'";
}

std::string run_folder(const RunResult& run) {
  return run.folder.empty() ? fmt::format("results/{}/{}", run.experiment_name, run.run_id) : run.folder;
}

std::string resume_command(const RunResult& run) {
  return "paceline run --resume " + shell_word(run_folder(run));
}

std::string rerun_command(const RunResult& run, const std::vector<std::string>& case_ids) {
  return resume_command(run) + " --only " + case_numbers(run, case_ids);
}

std::string rerun_with_baselines(const RunResult& run, std::vector<std::string> ids) {
  const auto contains = [&](const std::string& id) { return std::ranges::count(ids, id) > 0; };
  for (std::size_t before = 0; before != ids.size();) {
    before = ids.size();
    for (const CaseResult& one : run.cases) {
      const auto& base = one.speedup.baseline_case_id;
      const CaseResult* found = find_case(run, base);
      if (!found || !is_ok(one) || !measures_again(one) || !measures_again(*found)) continue;
      if (contains(one.case_id) && !contains(base)) ids.push_back(base);
      if (contains(base) && !contains(one.case_id)) ids.push_back(one.case_id);
    }
  }
  return rerun_command(run, ids);
}

bool goes_on_from_checkpoints(const CaseResult& one) {
  return one.config_effective.value("checkpoint.resume", nlohmann::json()) == true;
}

bool keeps_checkpoints(const CaseResult& one) {
  const auto folder = one.config_effective.value("checkpoint.dir", nlohmann::json());
  return folder.is_string() && folder != "";
}

bool measures_again(const CaseResult& one) {
  if (goes_on_from_checkpoints(one)) return !one.config_effective.contains("training.epochs");
  return !keeps_checkpoints(one);
}

std::string unfinished_text(const RunResult& run) {
  const bool killed = run.outcome == result::kUnfinished;
  if (!killed && run.outcome != "interrupted") return {};
  if (run.cases.empty()) return {};
  const auto traced = [](const CaseResult& one) { return one.benchmark.params.contains(result::kTraces); };
  if (std::ranges::all_of(run.cases, traced))
    return "The job was ended before it was done: its figures are of the steps until then.";
  const auto complete = std::count_if(run.cases.begin(), run.cases.end(),
                                      [](const CaseResult& one) { return is_ok(one) && one.complete; });
  // The option holds for all training of a plan, and is refused where one case keeps no checkpoints.
  const bool allowed = std::none_of(run.cases.begin(), run.cases.end(), [](const CaseResult& one) {
    return traits_of(one.benchmark.kind).trains && !keeps_checkpoints(one);
  });
  const bool from_checkpoint =
      allowed && std::any_of(run.cases.begin(), run.cases.end(), [](const CaseResult& one) {
        return !one.complete && keeps_checkpoints(one) && !goes_on_from_checkpoints(one);
      });
  return fmt::format(
      "This run is unfinished ({}): {} of {} cases have all their repetitions. Go on with: {}{}",
      killed ? "it was killed, or is still running" : "it was interrupted", complete, run.cases.size(),
      resume_command(run), from_checkpoint ? " --checkpoint.resume" : "");
}

}  // namespace paceline::analysis
