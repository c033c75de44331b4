// SPDX-License-Identifier: MIT
#include "run/case/result_keeper.h"

#include <algorithm>
#include <ctime>

#include "base/clock.h"
#include "base/file.h"
#include "base/units.h"
#include "result/stored/result_json.h"

namespace paceline::run {
namespace {

constexpr std::int64_t kSummaryEveryNs = 3'000'000'000;
constexpr std::int64_t kShare = 20;  // writing takes at most this part of the time

std::string utc_now() {
  return format_utc(std::time(nullptr));
}

// A run that is resumed keeps its name.
result::RunResult opened_run(const RunSetup& setup, const result::RunDirectory& directory) {
  result::RunResult run = setup.previous.folder.empty() ? result::RunResult{} : setup.previous.run;
  run.suite = setup.suite;
  run.experiment_name = setup.plan.experiment_name;
  if (run.run_id.empty()) run.run_id = directory.path().filename().string();
  if (run.started_utc.empty())
    run.started_utc = utc_now();
  else
    run.resumed_utc.push_back(utc_now());
  run.finished_utc.clear();
  run.outcome = result::kUnfinished;
  run.command_line = setup.command_line;
  run.environment = setup.environment;
  run.cases.clear();
  run.findings.clear();
  run.gates.clear();
  return run;
}

bool has_failed(const CaseRun& c) {
  return c.result.outcome == result::Outcome::kFailed;
}

void end_unmeasured(CaseRun& c) {
  if (!c.selected) return end_case(c, result::kNotMeasured, "not selected by --only");
  end_case(c, "interrupted",
           "interrupted before its first repetition was finished" +
               (c.interrupted.empty() ? std::string() : "; " + c.interrupted));
}

}  // namespace

ResultKeeper::ResultKeeper(const RunSetup& setup, result::RunDirectory& directory)
    : directory_(directory), run_(opened_run(setup, directory)) {
  replace_file(directory.path() / "plan.yaml", config::effective_yaml(setup.plan));
  auto environment = setup.environment;
  environment["schema_version"] = result::kSchemaVersion;
  replace_file(directory.path() / "environment.json", result::json_text(environment));
}

void ResultKeeper::write_summary() {
  const SteadyClock clock;
  const auto begin = clock.now_ns();
  directory_.write_summary(run_);
  const auto end = clock.now_ns();
  next_summary_ns_ = end + std::max(kSummaryEveryNs, kShare * (end - begin));
}

void ResultKeeper::write_changed() {
  const SteadyClock clock;
  const auto begin = clock.now_ns();
  for (auto* c : changed_) {
    c->result.samples = directory_.write_case(c->result, c->samples);
    if (!c->sampled.empty()) replace_file(c->dir / "sampled.csv", result::sampled_csv(c->sampled));
    run_.cases[c->index] = c->result;
  }
  changed_.clear();
  const auto end = clock.now_ns();
  next_files_ns_ = end + kShare * (end - begin);
}

void ResultKeeper::keep(CaseRun& c) {
  if (run_.cases.size() <= c.index) run_.cases.resize(c.index + 1);
  run_.cases[c.index] = c.result;
  changed_.insert(&c);
  const auto now = SteadyClock{}.now_ns();
  if (now >= next_files_ns_) write_changed();
  if (now >= next_summary_ns_) write_changed(), write_summary();
}

result::RunResult ResultKeeper::finish(CaseRuns& all, bool interrupted) {
  for (auto& c : all) {
    if (interrupted && c.selected && !c.ended) c.result.ended_because = result::EndedBecause::kInterrupted;
    if (!c.ended && c.result.repetitions.empty()) end_unmeasured(c);
    keep(c);
  }
  write_changed();
  const bool failed = std::any_of(all.begin(), all.end(), has_failed);
  run_.outcome = interrupted ? "interrupted" : failed ? "failed" : "ok";
  run_.finished_utc = utc_now();
  write_summary();
  return run_;
}

}  // namespace paceline::run
