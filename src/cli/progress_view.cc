// SPDX-License-Identifier: MIT
#include "cli/progress_view.h"

#include <fmt/format.h>

#include "base/clock.h"
#include "base/display_text.h"
#include "base/units.h"
#include "report/environment_rows.h"
#include "report/text_layout.h"

namespace paceline::cli {
namespace {

constexpr std::int64_t kRedrawNs = 100'000'000;

std::string interval_text(const workload::ProgressRecord& r) {
  if (!r.p50_ns) return {};
  const auto value = format_duration_ns(*r.p50_ns);
  if (!r.ci_low_ns || !r.ci_high_ns) return "p50 " + value;
  return fmt::format("p50 {} ({}–{})", value, format_ms(*r.ci_low_ns), format_ms(*r.ci_high_ns));
}

}  // namespace

void ProgressView::run_begins(const run::RunOverview& o) {
  console_.say(fmt::format("{} · {} × {} · {}", o.experiment_name,
                           plural(static_cast<std::int64_t>(o.cases), "case"),
                           plural(static_cast<std::int64_t>(o.repetitions), "repetition"), o.run_dir));
  if (o.environment) console_.say("machine  " + report::machine_line(*o.environment));
}

void ProgressView::warning(const std::string& words) {
  if (words == last_warning_) return;
  last_warning_ = words;
  clear();
  console_.warn(words);
}

void ProgressView::notice(const std::string& words) {
  clear();
  plain(headline() + "   " + words);
}

void ProgressView::document(const std::string& text) {
  clear();
  print(console_.text(), for_terminal(text));
}

std::string ProgressView::headline() const {
  const auto label = on_one_line(pass_.label);
  if (pass_.kind != "timed") return fmt::format("  {}  {}", pass_.kind, label);
  return fmt::format("  {}/{}  {} · rep {}", pass_.number, pass_.of, label, pass_.repetition + 1);
}

void ProgressView::pass_begins(const run::PassInfo& pass) {
  pass_ = pass;
  drawn_ns_ = 0;
  draw(headline() + "   starting");
}

void ProgressView::progress(const workload::ProgressRecord& r) {
  const std::string left =
      pass_.seconds_left > 0 ? fmt::format("   {} left", format_time_left(pass_.seconds_left)) : "";
  const std::string detail = r.n > 0 ? fmt::format("n={} {}", r.n, interval_text(r)) : "";
  draw(fmt::format("{}   {}  {}{}", headline(), r.phase, detail, left));
}

void ProgressView::pass_ends(const run::PassInfo& pass, const std::string& problem) {
  clear();
  if (console_.terminal && !console_.verbose) return;
  plain(headline() + (problem.empty() ? "   done" : "   " + problem) +
        (pass.seconds_left > 0 ? fmt::format("   {} left", format_time_left(pass.seconds_left)) : ""));
}

void ProgressView::case_ends(const result::CaseResult& result) {
  if (result.outcome == result::Outcome::kOk) return;
  clear();
  const bool skipped = result.outcome == result::Outcome::kSkipped;
  console_.warn(
      fmt::format("{} {}: {}", on_one_line(result.label), skipped ? "skipped" : "failed", result.reason));
}

void ProgressView::draw(const std::string& line) {
  if (!console_.terminal || console_.quiet) return;
  const std::int64_t now = SteadyClock{}.now_ns();
  if (now - drawn_ns_ < kRedrawNs) return;
  drawn_ns_ = now;
  line_open_ = true;
  const std::string shown = on_one_line(line);
  const std::string text = report::truncate(console_.ascii ? report::to_ascii(shown) : shown,
                                            std::min<std::size_t>(console_.width, 100) - 1);
  print(console_.text(), "\r\x1b[K" + text);
}

void ProgressView::clear() {
  if (!line_open_) return;
  print(console_.text(), "\r\x1b[K");
  line_open_ = false;
}

void ProgressView::plain(const std::string& line) {
  console_.say(line);
}

}  // namespace paceline::cli
