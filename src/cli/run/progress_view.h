// SPDX-License-Identifier: MIT
#pragma once
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

#include "cli/context.h"
#include "run/case/observer.h"

namespace paceline::cli {

// "n=40 p50 2.00 ms (1.98–2.03)", "blocks=12 back to back 0.41 ms"; empty before the first sample.
std::string figures_of(const pass::ProgressRecord& record);

// "128 samples/s  loss 2.35  slowest: rank 1 (+1.8 %)  data 0.0 %  fwd 40.0 %  …"
std::string words_of(const pass::LiveSteps& steps);

// Shows progress while a run goes on: on a terminal one line that is redrawn, elsewhere one plain line per
// pass. Each warning appears once, at once. After a longer silence a line says what is running. With
// --verbose the phases of each pass are printed with their seconds.
class ProgressView : public run::RunObserver {
 public:
  explicit ProgressView(const Console& console);
  ProgressView(const ProgressView&) = delete;
  ProgressView& operator=(const ProgressView&) = delete;
  ~ProgressView() override;
  void run_begins(const run::RunOverview& overview) override;
  void warning(const std::string& words) override;
  void notice(const std::string& words) override;
  void document(const std::string& text) override;
  void pass_begins(const run::PassInfo& pass) override;
  void progress(const pass::ProgressRecord& record) override;
  void unchecked_figure(const pass::ProgressRecord& record) override;
  void pass_timed(const run::PassTimes& times) override;
  void pass_ends(const run::PassInfo& pass, const std::string& problem) override;
  void run_ends(const result::RunResult& run) override;
  void case_ends(const result::CaseResult& result) override;
  // On a terminal: lines below that of the run, until others come.
  void beside(std::vector<std::string> lines);

 private:
  // `left` stays in view where the line is cut.
  void draw(const std::string& line, const std::string& left = "", std::size_t widest = 100);
  void redraw();
  void clear();
  void plain(const std::string& line);
  void print_while_silent(const std::stop_token& stop);
  [[nodiscard]] std::string headline() const;

  const Console& console_;
  std::mutex mutex_;  // protects everything below and the output
  std::condition_variable_any wake_;
  run::PassInfo pass_;
  std::string last_warning_;
  std::int64_t drawn_ns_ = 0;
  std::int64_t printed_ns_ = 0;
  double before_s_ = 0;        // from the start of the process to that of the run
  std::int64_t began_ns_ = 0;  // the run
  std::int64_t pass_began_ns_ = 0;
  run::PassTimes passes_;            // each kind as one phase
  std::string under_way_;            // empty: nothing is running
  std::string line_;                 // as it is drawn
  std::vector<std::string> beside_;  // below it
  bool line_open_ = false;
  std::jthread silence_;  // the last member: it uses the others
};

}  // namespace paceline::cli
