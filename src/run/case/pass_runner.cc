// SPDX-License-Identifier: MIT
#include "run/case/pass_runner.h"

#include <fmt/format.h>

#include <ctime>
#include <deque>
#include <utility>

#include "base/file.h"
#include "base/units.h"
#include "process/kept_records.h"
#include "run/case/kind_rules.h"

namespace paceline::run {

process::WorkerRequest request_for(pass::PassSpec pass, std::filesystem::path log) {
  process::WorkerRequest request;
  request.spec = std::move(pass);
  request.log = std::move(log);
  return request;
}

process::WorkerRequest request_for(const config::Case& c, pass::PassSpec pass, std::filesystem::path log) {
  auto request = request_for(std::move(pass), std::move(log));
  request.env = c.env;
  request.timeout_s = kind_rules(c.kind).timeout_s(c);
  if (c.settings.has("max_restarts"))
    request.max_restarts = static_cast<int>(c.settings.integer("max_restarts"));
  return request;
}

process::WorkerOutcome PassRunner::run(const CaseRun& c, const pass::PassSpec& pass) const {
  return start(c, request_of(c, pass));
}

process::WorkerOutcome PassRunner::run_kept(const CaseRun& c, const pass::PassSpec& pass,
                                            const std::function<void()>& check) const {
  return start(c, kept_request_of(c, pass), check);
}

process::WorkerOutcome PassRunner::announce(const CaseRun& c, const process::WorkerRequest& request,
                                            const std::string& name) const {
  const PassInfo info{0, 0, c.result.label, name, 0, 0, c.definition.id};
  observer_.pass_begins(info);
  auto outcome = start(c, request);
  observer_.pass_ends(info, outcome.ok ? "" : outcome.reason);
  return outcome;
}

process::WorkerOutcome PassRunner::run_announced(const CaseRun& c, const pass::PassSpec& pass,
                                                 const std::string& name) const {
  return announce(c, request_of(c, pass), name.empty() ? pass::pass_kind_name(pass.kind) : name);
}

process::WorkerOutcome PassRunner::run_recorded(const CaseRun& c, const pass::PassSpec& pass,
                                                const std::filesystem::path& records, bool announced) const {
  auto request = request_of(c, pass);
  request.record_file = records;
  return announced ? announce(c, request, pass::pass_kind_name(pass.kind)) : start(c, request);
}

process::WorkerRequest PassRunner::request_of(const CaseRun& c, const pass::PassSpec& pass) const {
  auto request = request_for(c.definition, pass, c.log());
  request.env.emplace("TMPDIR", temp_folder_.string());
  return request;
}

process::WorkerRequest PassRunner::kept_request_of(const CaseRun& c, const pass::PassSpec& pass) const {
  auto request = request_of(c, pass);
  request.record_file = c.record_file(pass.kind, pass.repetition);
  request.spec.table_file = process::unfinished_table_of(request.record_file);
  return request;
}

namespace {

void announce_in_log(const process::WorkerRequest& request) {
  append_file(request.log, fmt::format("# {} {} pass, repetition {}\n", format_utc(std::time(nullptr)),
                                       pass::pass_kind_name(request.spec.kind), request.spec.repetition));
}

}  // namespace

std::vector<process::WorkerOutcome> PassRunner::run_in_turns(const std::vector<CasePass>& passes) const {
  std::deque<PhaseWatch> watches;
  std::vector<process::HeardRequest> requests;
  for (const auto& [c, pass] : passes) {
    auto& watch = watches.emplace_back(pass::pass_kind_name(pass.kind));
    const bool shown = c == passes.back().c;  // observers follow the pass that began last
    requests.push_back({kept_request_of(*c, pass), [this, &watch, shown](const pass::ProgressRecord& p) {
                          watch.take(p);
                          if (!p.notice.empty()) return observer_.notice(p.notice);
                          if (shown) observer_.progress(p);
                        }});
    announce_in_log(requests.back().request);
  }
  auto outcomes = executor_.run_in_turns(requests, interrupt_);
  for (std::size_t i = 0; i < requests.size(); ++i) {
    const auto times = watches[i].end();
    append_file(requests[i].request.log, fmt::format("# {}\n", words_of(times)));
    observer_.pass_timed(times);
  }
  return outcomes;
}

process::WorkerOutcome PassRunner::start(const CaseRun& c, const process::WorkerRequest& request,
                                         const std::function<void()>& check) const {
  announce_in_log(request);
  PhaseWatch watch(pass::pass_kind_name(request.spec.kind));
  bool told = false;  // of a figure that is not checked yet
  auto outcome = executor_.run(request, interrupt_, [&](const pass::ProgressRecord& p) {
    watch.take(p);
    if (p.part) return report_part(c, *p.part);
    if (check && p.phase == pass::kUncheckedPhase) return check();
    if (check && p.p50_ns && !std::exchange(told, true)) observer_.unchecked_figure(p);
    p.notice.empty() ? observer_.progress(p) : observer_.notice(p.notice);
  });
  const auto times = watch.end();
  append_file(request.log, fmt::format("# {}\n", words_of(times)));
  observer_.pass_timed(times);
  return outcome;
}

void PassRunner::report_part(const CaseRun& c, const pass::PassReport& report) const {
  if (const auto part = kind_rules(c.definition.kind).last_part(c, report)) observer_.part_measured(*part);
}

}  // namespace paceline::run
