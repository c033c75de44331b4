// SPDX-License-Identifier: MIT
// The interface that hears what happens in a run; printing is left to the layer above.
#pragma once
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "pass/records.h"
#include "result/stored/run_result.h"
#include "run/case/phase_times.h"

namespace paceline::run {

struct RunOverview {
  std::string experiment_name;
  std::string run_dir;
  std::size_t cases = 0;
  std::size_t repetitions = 0;  // of the case with the most
  const nlohmann::json* environment = nullptr;
  std::vector<std::string> devices{};  // where the cases run and why
};

struct PassInfo {
  std::size_t number = 0;  // 1-based among the timed passes of this run; 0: a check or a reference
  std::size_t of = 0;
  std::string label;  // of the case
  std::string kind;   // for people: timed, check, …
  std::int64_t repetition = 0;
  double seconds_left = 0;           // estimate for the whole run; 0: unknown
  std::string case_id{};             // empty: it belongs to none
  double samples_per_iteration = 0;  // of one process; 0: ranks report theirs
  std::int64_t samples_planned = 0;  // timed samples of this pass; 0: not fixed
  double most_s = 0;                 // time limit of its loop; 0: none
  bool fixed_time = false;           // it measures until that limit
};

// Is told what happens, as it happens. Those that print, write and serve live above this layer.
class RunObserver {
 public:
  virtual ~RunObserver() = default;
  virtual void run_begins(const RunOverview&) {}
  virtual void warning(const std::string&) {}
  virtual void document(const std::string&) {}  // lines of text that were asked for
  virtual void pass_begins(const PassInfo&) {}
  virtual void notice(const std::string&) {}  // worth a line, but nothing is wrong
  virtual void progress(const pass::ProgressRecord&) {}
  // The first figure of a timed pass whose outputs are checked after it.
  virtual void unchecked_figure(const pass::ProgressRecord&) {}
  // A case with the figures of one part of it: a size of a sweep. It is measured further.
  virtual void part_measured(const result::CaseResult&) {}
  // Stands before pass_ends, where that follows.
  virtual void pass_timed(const PassTimes&) {}
  virtual void pass_ends(const PassInfo&, const std::string& problem) { (void)problem; }
  virtual void case_ends(const result::CaseResult&) {}
  virtual void run_ends(const result::RunResult&) {}
};

// Tells several, in their order; they outlive this.
class Observers : public RunObserver {
 public:
  explicit Observers(std::vector<RunObserver*> all) : all_(std::move(all)) {}
  void run_begins(const RunOverview& o) override { tell(&RunObserver::run_begins, o); }
  void warning(const std::string& words) override { tell(&RunObserver::warning, words); }
  void document(const std::string& text) override { tell(&RunObserver::document, text); }
  void pass_begins(const PassInfo& pass) override { tell(&RunObserver::pass_begins, pass); }
  void notice(const std::string& words) override { tell(&RunObserver::notice, words); }
  void progress(const pass::ProgressRecord& record) override { tell(&RunObserver::progress, record); }
  void unchecked_figure(const pass::ProgressRecord& record) override {
    tell(&RunObserver::unchecked_figure, record);
  }
  void part_measured(const result::CaseResult& part) override { tell(&RunObserver::part_measured, part); }
  void pass_timed(const PassTimes& times) override { tell(&RunObserver::pass_timed, times); }
  void pass_ends(const PassInfo& pass, const std::string& problem) override {
    tell(&RunObserver::pass_ends, pass, problem);
  }
  void case_ends(const result::CaseResult& result) override { tell(&RunObserver::case_ends, result); }
  void run_ends(const result::RunResult& run) override { tell(&RunObserver::run_ends, run); }

 private:
  template <typename... What>
  void tell(void (RunObserver::*event)(const What&...), const What&... what) {
    for (auto* one : all_) (one->*event)(what...);
  }
  std::vector<RunObserver*> all_;
};

}  // namespace paceline::run
