// SPDX-License-Identifier: MIT
#include "compare/commands.h"

#include <fmt/format.h>
#include <wordexp.h>

#include <algorithm>

#include "base/display_text.h"
#include "base/error.h"
#include "base/text.h"
#include "base/units.h"
#include "compare/blocks.h"
#include "compare/figures.h"
#include "process/tool_process.h"
#include "stats/median.h"
#include "stats/spread.h"

namespace paceline::compare {
namespace {

constexpr double kNsPerMs = 1e6, kBytesPerMb = 1e6;

struct Measured {
  std::vector<double> wall_ns, cpu_ns, peak_bytes,
      control_ns;  // by pair; a peak that is missing has no place
  std::string no_peak{};
};

class PairedCommands {
 public:
  PairedCommands(const CommandRequest& request, const CommandRunner& runner,
                 const std::atomic<bool>& interrupt)
      : request_(request), runner_(runner), interrupt_(interrupt) {}

  void warm_up() {
    for (std::int64_t i = 0; i < request_.warmup; ++i)
      for (const auto& side : request_.sides)
        if (!interrupt_) {
          prepare();
          checked_run(side.argv, side.text);
        }
  }

  void run_pairs(std::size_t pairs) {
    const auto order = block_order(pairs, request_.seed, pairs_done_);
    for (std::size_t i = 0; i < order.size() && !interrupt_; i += 2) {
      if (runner_.begun) runner_.begun(pairs_done_ + 1, pairs_done_ + (order.size() - i) / 2);
      if (!run_pair(order[i], order[i + 1])) return;
      order_.insert(order_.end(), {order[i], order[i + 1]});
      ++pairs_done_;
    }
  }

  [[nodiscard]] Comparison comparison() const {
    Comparison found;
    found.subject = "2 commands";
    found.pairing = Pairing::kAlternating;
    found.block_order = order_words(order_);
    found.sides = {{"A", request_.sides[0].text}, {"B", request_.sides[1].text}};
    found.control = judge_control(sides_[0].control_ns, sides_[1].control_ns, request_.threshold);
    ComparedCase one{.label = "B against A", .id_a = request_.sides[0].text, .id_b = request_.sides[1].text};
    one.pairing = found.pairing;
    one.figures = {judged("wall_ms", "wall", "ms", &Measured::wall_ns, kNsPerMs),
                   judged("cpu_ms", "CPU time", "ms", &Measured::cpu_ns, kNsPerMs), peak()};
    one.figures.front().decides = true;
    if (failures_ > 0)
      found.remarks.push_back(fmt::format("{} ended with another exit code than 0, or by a signal, and count",
                                          plural(failures_, "process")));
    found.cases.push_back(std::move(one));
    return found;
  }

  [[nodiscard]] std::size_t pairs_done() const { return pairs_done_; }

 private:
  process::ProcessCost checked_run(const std::vector<std::string>& argv, const std::string& text) {
    auto cost = runner_.run(argv);
    if (!cost.failure.empty() && !cost.interrupted) ++failures_;
    if (cost.failure.empty() || cost.interrupted || request_.ignore_failure) return cost;
    const auto said = runner_.last_words ? runner_.last_words() : "";
    throw Error(ErrorCode::kInternal,
                fmt::format("'{}' ended with {}; it said: {}\nadd --ignore-failure to count it all the same",
                            shown_value(text), cost.failure, said.empty() ? "nothing" : "\n" + said));
  }

  void prepare() {
    if (!request_.prepare.empty()) checked_run(request_.prepare, join(request_.prepare, " "));
  }

  // False: it was interrupted, and neither of the two counts.
  bool run_pair(std::size_t first, std::size_t second) {
    std::array<process::ProcessCost, 2> costs;
    std::array<double, 2> controls{};
    for (const auto side : {first, second}) {
      prepare();
      controls.at(side) = runner_.control_ns();
      costs.at(side) = checked_run(request_.sides.at(side).argv, request_.sides.at(side).text);
      if (interrupt_ || costs.at(side).interrupted) return false;
    }
    for (std::size_t side = 0; side < costs.size(); ++side)
      keep(sides_.at(side), costs.at(side), controls.at(side));
    return true;
  }

  static void keep(Measured& side, const process::ProcessCost& cost, double control_ns) {
    side.wall_ns.push_back(cost.wall_ns);
    side.cpu_ns.push_back(cost.cpu_ns);
    side.control_ns.push_back(control_ns);
    if (cost.peak_bytes)
      side.peak_bytes.push_back(static_cast<double>(*cost.peak_bytes));
    else
      side.no_peak = cost.peak_bytes.reason();
  }

  [[nodiscard]] Figure judged(const char* name, const char* title, const char* unit,
                              std::vector<double> Measured::*values, double scale) const {
    Figure figure{.name = name, .title = title, .unit = unit, .delta = request_.threshold};
    const auto &a = sides_[0].*values, &b = sides_[1].*values;
    if (a.empty() || b.empty()) {
      figure.doubt = "no pair of processes is complete";
      return figure;
    }
    figure.a = stats::median(a) / scale, figure.b = stats::median(b) / scale;
    if (*figure.a <= 0 || std::min(stats::minimum(a), stats::minimum(b)) <= 0)
      figure.doubt = "too short to be counted by the kernel";
    else
      judge_pairs(figure, a, b);
    return figure;
  }

  [[nodiscard]] Figure peak() const {
    Figure figure{
        .name = "peak_memory_mb", .title = "peak memory", .unit = "MB", .delta = request_.threshold};
    for (const auto& side : sides_)
      if (!side.no_peak.empty()) {
        figure.a = figure.b = figure.change = Number::missing(side.no_peak);
        figure.doubt = side.no_peak;
        return figure;
      }
    return judged("peak_memory_mb", "peak memory", "MB", &Measured::peak_bytes, kBytesPerMb);
  }

  const CommandRequest& request_;
  const CommandRunner& runner_;
  const std::atomic<bool>& interrupt_;
  std::array<Measured, 2> sides_;
  std::vector<std::size_t> order_;
  std::size_t pairs_done_ = 0;
  std::int64_t failures_ = 0;
};

bool is_open(const Comparison& comparison) {
  return comparison.cases.front().figures.front().verdict == stats::Verdict::kInconclusive;
}

std::string word_error(int code) {
  switch (code) {
    case WRDE_BADCHAR:
      return "it has a character that only a shell understands (| & ; < > ( ) { } or a line end); add "
             "--shell "
             "/bin/sh, or quote it";
    case WRDE_CMDSUB:
      return "it has the output of another command in it; add --shell /bin/sh";
    case WRDE_SYNTAX:
      return "a quote is not closed";
    default:
      return "it cannot be split into words; add --shell /bin/sh";
  }
}

}  // namespace

Comparison compare_commands(const CommandRequest& request, const CommandRunner& runner,
                            const std::atomic<bool>& interrupt) {
  PairedCommands commands(request, runner, interrupt);
  commands.warm_up();
  const auto pairs = static_cast<std::size_t>(request.pairs);
  commands.run_pairs(pairs);
  auto found = commands.comparison();
  const bool again = !interrupt && is_open(found) && !found.control->moved;
  if (again) {
    commands.run_pairs(pairs);
    found = commands.comparison();
    found.remarks.push_back(
        fmt::format("{} decided nothing, so as many followed", plural(request.pairs, "pair")));
  }
  if (interrupt)
    found.remarks.push_back(fmt::format("interrupted: {} of {} were complete", commands.pairs_done(),
                                        plural((again ? 2 : 1) * request.pairs, "pair")));
  settle(found);
  return found;
}

std::vector<std::string> command_words(const std::string& flag, const std::string& text) {
  wordexp_t found{};
  const int code = ::wordexp(text.c_str(), &found, WRDE_NOCMD);
  if (code != 0 && code != WRDE_NOSPACE)
    throw Error(ErrorCode::kUsage, fmt::format("{} '{}': {}", flag, shown_value(text), word_error(code)));
  std::vector<std::string> words(found.we_wordv, found.we_wordv + found.we_wordc);
  ::wordfree(&found);
  if (words.empty())
    throw Error(ErrorCode::kUsage, fmt::format("{} '{}': it has no word", flag, shown_value(text)));
  return words;
}

CommandSide command_side(const std::string& flag, const std::string& text, const std::string& shell) {
  CommandSide side{text, {}};
  if (trim(text).empty()) throw Error(ErrorCode::kUsage, flag + " '': it has no word");
  if (shell == "none")
    side.argv = command_words(flag, text);
  else
    side.argv = {shell, "-c", text};
  const auto program = process::find_program(side.argv.front());
  if (program.empty())
    throw Error(ErrorCode::kUsage,
                fmt::format("{} '{}': there is no program {} on the PATH that can be started", flag,
                            shown_value(text), shown_value(side.argv.front())));
  side.argv.front() = program.string();
  return side;
}

}  // namespace paceline::compare
