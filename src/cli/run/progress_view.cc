// SPDX-License-Identifier: MIT
#include "cli/run/progress_view.h"

#include <fmt/format.h>
#include <sys/ioctl.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <csignal>

#include "answer/text_layout.h"
#include "base/clock.h"
#include "base/display_text.h"
#include "base/units.h"
#include "cli/run/time_left.h"
#include "host/machine/process_clock.h"
#include "report/environment_rows.h"

namespace paceline::cli {
namespace {

constexpr std::size_t kShownNote = 300;  // bytes
constexpr std::int64_t kRedrawNs = 100'000'000;
constexpr std::int64_t kSilenceNs = 15'000'000'000;  // longest silence where lines are not redrawn

std::int64_t now_ns() {
  return SteadyClock{}.now_ns();
}

std::string interval_text(const pass::ProgressRecord& r) {
  if (!r.p50_ns) return {};
  const auto value = fmt::format("{} {}", r.blocks ? "back to back" : "p50", format_duration_ns(*r.p50_ns));
  if (!r.ci_low_ns || !r.ci_high_ns || r.steps) return value;
  return fmt::format("{} ({}–{})", value, format_ms(*r.ci_low_ns), format_ms(*r.ci_high_ns));
}

}  // namespace

std::string figures_of(const pass::ProgressRecord& r) {
  return r.n > 0 ? fmt::format("{}={} {}", r.blocks ? "blocks" : "n", r.n, interval_text(r)) : "";
}

std::string words_of(const pass::LiveSteps& steps) {
  std::string text;
  if (steps.samples_per_s) text = fmt::format("{} samples/s", format_rate(*steps.samples_per_s));
  if (steps.loss) text += fmt::format("  loss {:.3g}", *steps.loss);
  if (const auto& slowest = steps.slowest)
    text += fmt::format("  slowest: rank {} (+{}{}{})", slowest->rank, format_percent(slowest->beyond),
                        slowest->cause.empty() ? "" : ": ", slowest->cause);
  for (const auto part : result::kStepParts)
    if (const auto& share = steps.shares[part]; share && *traits_of(part).word != 0)
      text += fmt::format("  {} {}", traits_of(part).word, format_percent(*share));
  return text;
}

ProgressView::ProgressView(const Console& console) : console_(console) {
  if (!console_.terminal && !console_.quiet)
    silence_ = std::jthread([this](const std::stop_token& stop) { print_while_silent(stop); });
}

ProgressView::~ProgressView() {
  if (!silence_.joinable()) return;
  silence_.request_stop();
  wake_.notify_all();
  silence_.join();
}

// A pass may load, export or compare for minutes without sending a record.
void ProgressView::print_while_silent(const std::stop_token& stop) {
  sigset_t all;
  ::sigfillset(&all);
  ::pthread_sigmask(SIG_BLOCK, &all, nullptr);  // signals belong to the main thread, which waits for them
  std::unique_lock lock(mutex_);
  while (!stop.stop_requested()) {
    const auto silent = now_ns() - printed_ns_;
    const auto rest = under_way_.empty() ? kSilenceNs : std::max<std::int64_t>(kSilenceNs - silent, 0);
    if (rest == 0)
      plain(under_way_);
    else
      wake_.wait_for(lock, stop, std::chrono::nanoseconds(rest), [] { return false; });
  }
}

void ProgressView::run_begins(const run::RunOverview& o) {
  const std::scoped_lock lock(mutex_);
  before_s_ = host::since_process_start_ns().value().value_or(0) * 1e-9;
  began_ns_ = now_ns();
  for (const auto& words : o.devices) console_.say("device   " + words);
  console_.say(fmt::format("{} · {} × {} · {}", o.experiment_name,
                           plural(static_cast<std::int64_t>(o.cases), "case"),
                           plural(static_cast<std::int64_t>(o.repetitions), "repetition"), o.run_dir));
  if (!o.environment) return;
  console_.say("machine  " + report::machine_line(*o.environment));
  if (const auto commit = report::commit_words(*o.environment); !commit.empty())
    console_.say("commit   " + commit);
  for (const auto& note : report::notes_of(*o.environment))
    console_.say("note     " + shown_value(note, kShownNote));
}

void ProgressView::warning(const std::string& words) {
  const std::scoped_lock lock(mutex_);
  if (words == last_warning_) return;
  last_warning_ = words;
  clear();
  console_.warn(words);
}

void ProgressView::notice(const std::string& words) {
  const std::scoped_lock lock(mutex_);
  clear();
  plain(headline() + "   " + words);
}

void ProgressView::document(const std::string& text) {
  const std::scoped_lock lock(mutex_);
  clear();
  printed_ns_ = now_ns();
  print(console_.text(), for_terminal(text));
}

std::string ProgressView::headline() const {
  const auto label = on_one_line(pass_.label);
  if (pass_.number == 0) return fmt::format("  {}  {}", pass_.kind, label);
  return fmt::format("  {}/{}  {} · rep {}", pass_.number, pass_.of, label, pass_.repetition + 1);
}

void ProgressView::pass_begins(const run::PassInfo& pass) {
  const std::scoped_lock lock(mutex_);
  pass_ = pass;
  pass_began_ns_ = now_ns();
  drawn_ns_ = 0;
  if (under_way_.empty()) printed_ns_ = now_ns();
  draw(headline() + "   starting", words_of(time_left(pass_, 0, {})));
}

void ProgressView::progress(const pass::ProgressRecord& r) {
  const std::scoped_lock lock(mutex_);
  const auto left = words_of(time_left(pass_, static_cast<double>(now_ns() - pass_began_ns_) * 1e-9, r));
  const std::string line = fmt::format("{}   {}  {}", headline(), r.phase, figures_of(r));
  if (!r.steps) return draw(line, left);
  draw(line + "   " + words_of(*r.steps), left, console_.width);
}

void ProgressView::unchecked_figure(const pass::ProgressRecord& record) {
  const std::scoped_lock lock(mutex_);
  clear();
  plain(fmt::format("{}   {} so far; outputs not checked yet", headline(), figures_of(record)));
}

void ProgressView::pass_timed(const run::PassTimes& times) {
  const std::scoped_lock lock(mutex_);
  run::add_phase(passes_, {times.pass, times.seconds()});
  if (!console_.verbose) return;
  clear();
  plain("  " + run::words_of(times));
}

void ProgressView::run_ends(const result::RunResult&) {
  const std::scoped_lock lock(mutex_);
  if (!console_.verbose || began_ns_ == 0) return;
  const double run_s = static_cast<double>(now_ns() - began_ns_) * 1e-9;
  run::PassTimes all{"run", {{"before", before_s_}}};
  for (const auto& one : passes_.phases) run::add_phase(all, one);
  run::add_phase(all, {"between passes", std::max(0.0, run_s - passes_.seconds())});
  clear();
  plain("  " + run::words_of(all));
}

void ProgressView::pass_ends(const run::PassInfo& pass, const std::string& problem) {
  const std::scoped_lock lock(mutex_);
  clear();
  under_way_.clear();
  pass_ = pass;  // others may have run within it
  if (console_.terminal && !console_.verbose) return;
  plain(headline() + (problem.empty() ? "   done" : "   " + on_one_line(problem)) +
        (pass.seconds_left > 0 ? fmt::format("   {} left", format_time_left(pass.seconds_left)) : ""));
}

void ProgressView::case_ends(const result::CaseResult& result) {
  const std::scoped_lock lock(mutex_);
  if (result.outcome == result::Outcome::kOk) return;
  clear();
  const bool skipped = result.outcome == result::Outcome::kSkipped;
  console_.warn(
      fmt::format("{} {}: {}", on_one_line(result.label), skipped ? "skipped" : "failed", result.reason));
}

void ProgressView::draw(const std::string& line, const std::string& left, std::size_t widest) {
  const std::string end = left.empty() ? "" : "   " + left;
  under_way_ = line + end;
  if (!console_.terminal || console_.quiet) return;
  const std::int64_t now = now_ns();
  if (now - drawn_ns_ < kRedrawNs) return;
  drawn_ns_ = now;
  const auto columns = std::max<std::size_t>(std::min(console_.width, widest), 2) - 1;
  const auto room = columns - std::min(columns / 2, answer::display_width(end));
  line_ = answer::truncate(answer::truncate(on_one_line(line), room) + end, columns);
  redraw();
}

// The cursor stays in the first line, so that whatever clears it clears those below, too.
void ProgressView::redraw() {
  line_open_ = true;
  std::string text = line_ + "\x1b[K";
  for (const auto& line : beside_) text += "\n" + line + "\x1b[K";
  text += "\x1b[J";
  if (!beside_.empty()) text += fmt::format("\x1b[{}A", beside_.size());
  print(console_.text(), "\r" + (console_.ascii ? answer::to_ascii(text) : text));
}

void ProgressView::beside(std::vector<std::string> lines) {
  const std::scoped_lock lock(mutex_);
  if (!console_.terminal || console_.quiet) return;
  winsize size{};
  const bool known = ::ioctl(::fileno(console_.text()), TIOCGWINSZ, &size) == 0 && size.ws_row > 0;
  const std::size_t most =
      known ? std::max<std::size_t>(size.ws_row, 2) - 2 : 16;  // the first line stays in view
  lines.resize(std::min(lines.size(), most));
  beside_ = std::move(lines);
  if (line_open_) redraw();
}

void ProgressView::clear() {
  if (!line_open_) return;
  print(console_.text(), "\r\x1b[J");
  line_open_ = false;
}

void ProgressView::plain(const std::string& line) {
  printed_ns_ = now_ns();
  console_.say(line);
}

}  // namespace paceline::cli
