// SPDX-License-Identifier: MIT
#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <map>
#include <utility>

#include "base/error.h"
#include "base/exit_code.h"
#include "base/file.h"
#include "base/random.h"
#include "base/text.h"
#include "cli/compare/live_options.h"
#include "cli/compare/live_sides.h"
#include "cli/interrupts.h"
#include "compare/blocks.h"
#include "compare/runs.h"
#include "config/flags.h"
#include "measure/control_spin.h"
#include "process/spawn.h"
#include "process/tool_process.h"
#include "result/figures/pair_ratio.h"
#include "stats/median.h"

namespace paceline::cli {
namespace {

namespace fs = std::filesystem;

constexpr double kLongestS = 3600;  // of one process
constexpr std::size_t kTailOfLog = 1500;

// Words of a command without one flag and its value.
std::vector<std::string> without_flag(const config::FlagSet& flags, std::string_view option,
                                      std::vector<std::string> words) {
  for (const auto& setting : flags.settings) {
    if (setting.name != option) continue;
    const auto at = std::ranges::find_if(words, [&](const std::string& word) {
      return word == setting.written || word.starts_with(setting.written + "=");
    });
    if (at == words.end()) continue;
    const bool apart = *at == setting.written && at + 1 != words.end();
    words.erase(at, at + (apart ? 2 : 1));
  }
  return words;
}

std::int64_t asked_pairs(const config::FlagSet& flags) {
  for (const auto& setting : flags.settings)
    if (setting.name == "repetitions") {
      const auto asked = parse_int(setting.values.front().text).value_or(0);
      require_pairs(setting.written, asked);
      return asked;
    }
  return result::kPairsForClaim;
}

// One side: what starts a process of it, and what its processes measured.
class Program {
 public:
  Program(const LiveWords& words, const LiveSide& side, fs::path folder)
      : side_(side), folder_(std::move(folder)) {
    const auto flags = config::parse_flags(side.words, words.bits);
    argv_ = {side.program.empty() ? process::worker_command_line().front() : program_of(side), words.command};
    auto own = without_flag(flags, "repetitions", side.words);
    own = without_flag(flags, "output_dir", std::move(own));
    own = without_flag(flags, "experiment_name", std::move(own));
    argv_.insert(argv_.end(), own.begin(), own.end());
    for (const auto& one : side.env) env_[one.substr(0, one.find('='))] = one.substr(one.find('=') + 1);
  }

  void run(std::size_t pair) {
    controls_ns_.push_back(measure::control_spin_ns());
    const auto results = folder_ / fmt::format("{:03}", pair + 1);
    make_directories(results);
    auto argv = argv_;
    argv.insert(argv.end(),
                {"--repetitions", "1", "--output-dir", results.string(), "--experiment-name", "run"});
    const auto log = results / "log.txt";
    const auto end = process::end_of_tool({argv, env_, log, {}, kLongestS}, InterruptGuard::flag());
    if (InterruptGuard::flag()) return controls_ns_.pop_back();
    try {
      add(result::read_run(results / "run"), static_cast<std::int64_t>(pair));
    } catch (const Error& error) {
      throw Error(
          end.exit_code == static_cast<int>(ExitCode::kUsage) ? ErrorCode::kUsage : ErrorCode::kInternal,
          fmt::format("{}: '{}' left no results ({}); its output ends with: {}", side_.name, join(argv, " "),
                      end.words.empty() ? error.what() : end.words, file_tail(log, kTailOfLog)));
    }
  }

  [[nodiscard]] const std::vector<double>& controls_ns() const { return controls_ns_; }
  // All its processes as one run.
  [[nodiscard]] compare::SideRun as_run(const LiveWords& words) const {
    auto all = all_;
    for (auto& one : all.run.cases) {
      std::vector<double> medians;
      for (const auto& r : one.repetitions)
        if (r.p50_ns) medians.push_back(*r.p50_ns);
      if (!medians.empty()) one.headline.p50_ns.value = stats::median(medians);
    }
    return {{side_.name, words.command + " " + side_.written, all.run.run_id}, std::move(all), further_};
  }
  [[nodiscard]] bool has_measured() const { return !all_.run.cases.empty(); }

 private:
  static std::string program_of(const LiveSide& side) {
    const auto found = process::find_program(side.program);
    if (found.empty())
      throw Error(ErrorCode::kUsage,
                  fmt::format("{}: there is no program {} that can be started", side.name, side.program));
    return fs::absolute(found).string();
  }

  // The first process brings the cases, the others their repetition and what is stored beside it.
  void add(result::StoredRun stored, std::int64_t index) {
    if (!all_.run.cases.empty()) further_.push_back({index, stored});
    for (auto& one : stored.run.cases)
      for (auto& r : one.repetitions) r.index = index;
    if (all_.run.cases.empty()) {
      all_ = std::move(stored);
      return;
    }
    for (auto& one : all_.run.cases) {
      const auto same = std::ranges::find(stored.run.cases, one.case_id, &result::CaseResult::case_id);
      if (same == stored.run.cases.end()) continue;
      one.repetitions.insert(one.repetitions.end(), same->repetitions.begin(), same->repetitions.end());
      if (same->outcome != result::Outcome::kOk) one.outcome = same->outcome, one.reason = same->reason;
    }
  }

  const LiveSide& side_;
  fs::path folder_;
  std::vector<std::string> argv_;
  std::map<std::string, std::string> env_;
  std::vector<double> controls_ns_;
  result::StoredRun all_;
  std::vector<compare::ProcessRun> further_;
};

compare::Comparison judge_programs(const LiveWords& words, const std::array<Program, 2>& programs,
                                   const std::string& order) {
  compare::RunOptions options;
  options.judge = judge_options(words);
  options.judge.pairing = compare::Pairing::kAlternating;
  options.allow_env_diff = true;  // sides that differ are what was asked for
  options.block_order = order;
  const auto a = programs[0].as_run(words), b = programs[1].as_run(words);
  const auto &first = a.stored.run.cases, &second = b.stored.run.cases;
  if (first.size() == second.size())
    for (std::size_t i = 0; i < first.size(); ++i)
      options.matches.push_back({first[i].case_id, second[i].case_id});
  auto a_ns = programs[0].controls_ns(), b_ns = programs[1].controls_ns();
  const auto pairs = std::min(a_ns.size(), b_ns.size());
  a_ns.resize(pairs), b_ns.resize(pairs);
  options.control = compare::judge_control(a_ns, b_ns, options.judge.threshold.value_or(compare::kMargin));
  auto comparison = compare::compare_runs({a, b}, options);
  comparison.subject = "two sides of " + words.command;
  return comparison;
}

bool is_undecided(const compare::Comparison& comparison) {
  return std::ranges::any_of(comparison.cases, [](const auto& one) {
    return std::ranges::any_of(compare::deciding(one), [](const auto* figure) {
      return figure->verdict == stats::Verdict::kInconclusive;
    });
  });
}

fs::path folder_for(const LiveWords& words) {
  const auto flags = config::parse_flags(words.sides[0].words, words.bits);
  fs::path results = "results";
  for (const auto& setting : flags.settings)
    if (setting.name == "output_dir") results = setting.values.front().text;
  return fs::absolute(results) / "compare" / result::new_run_id();
}

}  // namespace

MeasuredSides compare_programs(const LiveWords& words, const Context&, const Console& console) {
  const auto folder = folder_for(words);
  const auto flags = config::parse_flags(words.sides[0].words, words.bits);
  for (const auto& side : words.sides) refuse_options_of_runs(config::parse_flags(side.words, words.bits));
  const auto pairs = static_cast<std::size_t>(asked_pairs(flags));
  std::array<Program, 2> programs{Program(words, words.sides[0], folder / "a"),
                                  Program(words, words.sides[1], folder / "b")};
  measure::control_spin_ns();  // its memory is touched before it counts
  const auto seed = hash64(folder.filename().string());
  std::vector<std::size_t> done;
  const auto run_pairs = [&](std::size_t from) {
    const auto order = compare::block_order(pairs, seed, from);
    for (std::size_t i = 0; i < order.size() && !InterruptGuard::flag(); ++i) {
      console.say(
          fmt::format("  pair {} of {} · {}", from + i / 2 + 1, from + pairs, order[i] == 0 ? "A" : "B"));
      programs.at(order[i]).run(from + i / 2);
      done.push_back(order[i]);
    }
  };
  const auto judged = [&] { return judge_programs(words, programs, compare::order_words(done)); };
  run_pairs(0);
  if (!programs[0].has_measured() || !programs[1].has_measured())
    throw Error(ErrorCode::kUnavailable, "interrupted before both sides had run once");
  auto comparison = judged();
  if (!InterruptGuard::flag() && is_undecided(comparison)) {
    console.say("  not decided: twice the pairs of processes");
    run_pairs(pairs);
    comparison = judged();
  }
  keep_if_same(words, comparison, console);
  return {std::move(comparison), folder};
}

}  // namespace paceline::cli
