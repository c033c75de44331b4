// SPDX-License-Identifier: MIT
#include "run/inference/cross_check.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <map>

#include "base/error.h"
#include "base/file.h"
#include "base/npy.h"
#include "base/text.h"
#include "base/units.h"
#include "pass/input_layout.h"
#include "process/tool_process.h"
#include "result/figures/pair_ratio.h"
#include "result/judged/noise_rules.h"
#include "result/stored/samples.h"
#include "run/inference/engine_tools.h"
#include "run/inference/inference_results.h"
#include "run/inference/pass_factory.h"
#include "stats/compare.h"
#include "stats/quantile.h"

namespace paceline::run {
namespace fs = std::filesystem;
namespace {

constexpr std::int64_t kToolWarmup = 5;  // where the case's own is not a fixed number
constexpr std::int64_t kMostIterations = 10'000;
constexpr double kStartS = 1.5;  // of a process, beside loading the model
constexpr double kToolTimeoutS = 120;
constexpr std::size_t kTailBytes = 1500;
constexpr double kCoarse = 0.002;  // a last digit that is worth more than this share is said

// ONNX Runtime uploads nothing beside a measurement, unless somebody set its variable.
std::map<std::string, std::string> quiet(std::map<std::string, std::string> env) {
  constexpr const char* kVariable = "ORT_DISABLE_TELEMETRY";
  if (!std::getenv(kVariable)) env.try_emplace(kVariable, "1");
  return env;
}

// As many as the shortest of the case's own processes timed.
std::int64_t iterations_of(const CaseRun& run) {
  if (run.definition.settings.has("iterations")) return run.definition.settings.integer("iterations");
  std::int64_t least = kMostIterations;
  for (const auto& r : run.result.repetitions) least = std::min(least, r.n);
  return std::max<std::int64_t>(least, 1);
}

std::int64_t warmup_of(const CaseRun& run) {
  const auto& settings = run.definition.settings;
  return settings.has("warmup_iterations") ? settings.integer("warmup_iterations") : kToolWarmup;
}

// The first batch of the case's inputs as files of their own: what our timed process runs on.
std::vector<std::string> write_first_batch(const pass::PassSpec& base, const std::string& prefix) {
  auto files = pass::input_file_names(prefix, base.inference.input_files.size());
  for (std::size_t i = 0; i < files.size(); ++i) {
    const auto dimension = pass::batch_dimension_of(base.inference.batch_dimensions, i);
    const auto samples = dimension == pass::kNoBatch ? 1 : base.batch;
    auto batch = pass::to_model(read_npy_samples(base.inference.input_files[i], 0, samples), dimension);
    write_npy(files[i], batch.view());
  }
  return files;
}

// One run's exchange of processes; a failure ends it with an Error.
class Exchange {
 public:
  Exchange(CaseRun& run, const EngineTool& tool, const CrossCheckHelpers& helpers, RunObserver& observer,
           const std::atomic<bool>& interrupt)
      : run_(run),
        check_(run.result.cross_check),
        tool_(tool),
        helpers_(helpers),
        observer_(observer),
        interrupt_(interrupt),
        rounds_(run.definition.settings.integer("cross_check_rounds")) {}

  void measure() {
    find();
    prepare();
    for (std::int64_t pair = 0; pair < rounds_; ++pair) one_pair(pair);
    note_versions();
    note_resolution();
  }

 private:
  void find();
  void prepare();
  void one_pair(std::int64_t pair);
  double ours();
  double theirs(std::int64_t pair);
  void start_tool(const std::vector<std::string>& arguments, const fs::path& log, double timeout_s);
  void note_versions();
  void note_resolution();
  [[nodiscard]] std::string cost_in_words() const;

  CaseRun& run_;
  result::CrossCheck& check_;
  const EngineTool& tool_;
  const CrossCheckHelpers& helpers_;
  RunObserver& observer_;
  const std::atomic<bool>& interrupt_;
  std::int64_t rounds_;
  fs::path program_;
  ToolOrder order_;
  double resolution_ns_ = 0;
};

// A program that is there but cannot work here counts as none.
void Exchange::find() {
  const auto& asked = run_.definition.settings.text("cross_check_python");
  const auto python = process::find_program(asked);
  program_ = tool_.find(python);
  if (program_.empty())
    throw Error(ErrorCode::kUnavailable,
                fmt::format("{} was not found (cross_check_python is '{}'{}); {}", tool_.name, asked,
                            python.empty() ? ", which is not there" : "", tool_.install));
  const auto question = tool_.probe();
  if (question.empty()) return;
  std::vector<std::string> argv{program_.string()};
  argv.insert(argv.end(), question.begin(), question.end());
  const auto problem =
      process::run_tool({argv, {}, helpers_.folder / "probe.txt", {}, kToolTimeoutS}, interrupt_);
  if (!problem.empty() && !interrupt_)
    throw Error(ErrorCode::kUnavailable,
                fmt::format("'{}' fails at '{}'; {}", program_.string(), question.back(), tool_.install));
}

void Exchange::prepare() {
  if (run_.base.inference.input_files.empty()) throw Error(ErrorCode::kUnavailable, not_prepared().reason);
  order_.model_file = fs::absolute(run_.model_file.empty() ? run_.base.model.file : run_.model_file);
  order_.inputs = run_.base.model.inputs;
  order_.settings = run_.base.settings;
  order_.warmup = warmup_of(run_);
  order_.iterations = iterations_of(run_);
  order_.input_files = write_first_batch(run_.base, helpers_.folder / "input");
  check_.tool = std::string(tool_.name);
  check_.iterations = order_.iterations;
}

std::string Exchange::cost_in_words() const {
  const double load = run_.result.load_ns ? *run_.result.load_ns * 1e-9 : 0;
  const double p50 = run_.result.headline.p50_ns.value ? *run_.result.headline.p50_ns.value * 1e-9 : 0;
  const double process = kStartS + load + static_cast<double>(order_.warmup + order_.iterations) * p50;
  return fmt::format("{} pairs of processes with {} ({}), {} iterations each, about {}", rounds_, tool_.name,
                     program_.string(), order_.iterations,
                     format_time_left(2 * static_cast<double>(rounds_) * process));
}

void Exchange::one_pair(std::int64_t pair) {
  const PassInfo info{0,
                      0,
                      fmt::format("{} · pair {} of {}", run_.result.label, pair + 1, rounds_),
                      "cross-check",
                      0,
                      0,
                      run_.definition.id};
  observer_.pass_begins(info);
  if (pair == 0) observer_.notice(cost_in_words());
  helpers_.wait_for_quiet();
  try {
    double mine = 0, its = 0;
    for (const bool ours_now : {pair % 2 == 0, pair % 2 != 0})
      (ours_now ? mine : its) = ours_now ? ours() : theirs(pair);
    check_.ours_ns.push_back(mine);
    check_.theirs_ns.push_back(its);
  } catch (const Error& e) {
    observer_.pass_ends(info, e.what());
    throw;
  }
  observer_.pass_ends(info, "");
}

double Exchange::ours() {
  auto pass = run_.base;
  pass.kind = pass::PassKind::kTimed;
  pass.loop.warmup.mode = order_.warmup > 0 ? stats::WarmupMode::kFixed : stats::WarmupMode::kNone;
  pass.loop.warmup.fixed_iterations = order_.warmup;
  pass.loop.iterations = order_.iterations;
  pass.loop.batch = 1;
  pass.loop.pipelined = false;
  use_model_file(run_, pass);
  const auto outcome = helpers_.run_ours(pass);
  if (interrupt_) throw Error(ErrorCode::kTimeout, "the run was interrupted");
  if (!outcome.ok || outcome.report.samples.empty())
    throw Error(ErrorCode::kData, fmt::format("Paceline's own process failed: {}", outcome.reason));
  return stats::median(result::durations_ns(outcome.report.samples));
}

double Exchange::theirs(std::int64_t pair) {
  order_.folder = helpers_.folder / fmt::format("pair{}", pair);
  make_directories(order_.folder);
  const auto log = order_.folder / "output.txt";
  start_tool(tool_.arguments(order_), log, timeout_of(run_.definition));
  try {
    const auto figures = tool_.read(order_, read_file(log));
    check_.version = figures.version;
    resolution_ns_ = figures.resolution_ns;
    return figures.p50_ns;
  } catch (const Error& e) {
    check_.log_tail = file_tail(log, kTailBytes);
    throw Error(ErrorCode::kData, fmt::format("{} cannot be read: {}", tool_.name, e.what()));
  }
}

void Exchange::start_tool(const std::vector<std::string>& arguments, const fs::path& log, double timeout_s) {
  std::vector<std::string> argv{program_.string()};
  argv.insert(argv.end(), arguments.begin(), arguments.end());
  check_.command = join(argv, " ");
  const auto problem =
      process::run_tool({argv, quiet(run_.definition.env), log, run_.base.pin_cpus, timeout_s}, interrupt_);
  append_file(run_.log(), fmt::format("# cross-check: {}\n{}", check_.command, file_tail(log, kTailBytes)));
  if (interrupt_) throw Error(ErrorCode::kTimeout, "the run was interrupted");
  if (problem.empty()) return;
  check_.log_tail = file_tail(log, kTailBytes);
  throw Error(ErrorCode::kData, fmt::format("{} failed: {}", tool_.name, problem));
}

// A ratio of two versions of the library is no ratio of two harnesses.
void Exchange::note_versions() {
  const auto it = run_.result.effective_settings.find(std::string(tool_.library));
  if (it == run_.result.effective_settings.end() || check_.version.empty()) return;
  const std::string &mine = it->second, &its = check_.version;
  if (!mine.starts_with(its) && !its.starts_with(mine))
    check_.notes.push_back(fmt::format("the tool runs version {}, this case {}", its, mine));
}

void Exchange::note_resolution() {
  const double share = resolution_ns_ / stats::median(check_.theirs_ns);
  if (share > kCoarse)
    check_.notes.push_back(
        fmt::format("{} rounds its figure by up to {}", tool_.name, format_percent(share)));
}

}  // namespace

bool asks_cross_check(const CaseRun& run) {
  return run.definition.settings.has("cross_check") && run.definition.settings.flag("cross_check");
}

void conclude(result::CrossCheck& check, double confidence, double delta) {
  const auto pairs = std::min(check.ours_ns.size(), check.theirs_ns.size());
  check.ours_ns.resize(pairs);
  check.theirs_ns.resize(pairs);
  if (pairs == 0) return;
  check.ours_p50_ns = stats::median(check.ours_ns);
  check.theirs_p50_ns = stats::median(check.theirs_ns);
  stats::CompareConfig config;
  config.delta = delta, config.confidence = confidence;
  config.any_spread = true;  // two tools beside each other, no claim about either
  const auto c = stats::compare_pairs(check.theirs_ns, check.ours_ns, config);
  const auto missing = Number::missing(c.no_size.empty() ? c.reason : c.no_size);
  const auto end = [&](double stats::Interval::*side) {
    return c.ci_ratio ? Number((*c.ci_ratio).*side) : missing;
  };
  check.ratio = {c.no_size.empty() ? Number(c.estimate_ratio) : missing, end(&stats::Interval::low),
                 end(&stats::Interval::high), confidence, "binomial_processes"};
  using result::Speed;
  constexpr std::array kSpeed{Speed::kSlower, Speed::kFaster, Speed::kEquivalent,
                              Speed::kInconclusive};  // as stats::Verdict
  check.verdict = kSpeed.at(static_cast<std::size_t>(c.verdict));
  check.reason = c.no_size;
}

void cross_check(CaseRun& run, const CrossCheckHelpers& helpers, RunObserver& observer,
                 const std::atomic<bool>& interrupt) {
  auto& check = run.result.cross_check;
  check = {};
  check.asked = true;
  const auto& settings = run.definition.settings;
  try {
    const auto* tool = find_engine_tool(run.base.engine());
    if (!tool) throw Error(ErrorCode::kUnavailable, no_tool_reason(run.base.engine()));
    make_directories(helpers.folder);
    Exchange(run, *tool, helpers, observer, interrupt).measure();
    conclude(check, settings.number("confidence"),
             result::smallest_difference(result::profile_of(run.result)));
    if (const auto why = result::distortion(run.result); !why.empty())
      check.reason = why, check.verdict = result::Speed::kInconclusive;
  } catch (const Error& e) {
    check.reason = e.what();
    check.ratio.value = Number::missing(check.reason);
  }
}

}  // namespace paceline::run
