// SPDX-License-Identifier: MIT
#pragma once
#include <cstdint>
#include <string>

#include "cli/context.h"
#include "run/observer.h"

namespace paceline::cli {

// What people see while a run goes on: on a terminal one line that is redrawn, elsewhere a plain line a pass.
// Warnings appear at once, once each.
class ProgressView : public run::RunObserver {
 public:
  explicit ProgressView(const Console& console) : console_(console) {}
  void run_begins(const run::RunOverview& overview) override;
  void warning(const std::string& words) override;
  void notice(const std::string& words) override;
  void document(const std::string& text) override;
  void pass_begins(const run::PassInfo& pass) override;
  void progress(const workload::ProgressRecord& record) override;
  void pass_ends(const run::PassInfo& pass, const std::string& problem) override;
  void case_ends(const result::CaseResult& result) override;

 private:
  void draw(const std::string& line);
  void clear();
  void plain(const std::string& line);
  [[nodiscard]] std::string headline() const;

  const Console& console_;
  run::PassInfo pass_;
  std::string last_warning_;
  std::int64_t drawn_ns_ = 0;
  bool line_open_ = false;
};

}  // namespace paceline::cli
