// SPDX-License-Identifier: MIT
// Rules of a kind of workload about a case and its figures.
#pragma once
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/json.h"
#include "base/own_environment.h"
#include "config/plan.h"
#include "config/vocabulary.h"
#include "pass/records.h"
#include "result/stored/case_result.h"
#include "result/stored/samples.h"
#include "run/case/case_time.h"
#include "run/case/plugin_choice.h"

namespace paceline::run {

struct CaseRun;

// Forecast for a case on this machine.
struct Outlook {
  std::string fails{};              // why it will fail for want of memory; empty: it may fit
  std::string refused{};            // why it cannot be measured as asked; empty: it can
  std::string memory{};             // what it holds at least, in words; empty: not known
  nlohmann::json memory_figures{};  // the same for programs; null: words have to do
  std::vector<std::string> remarks{};
};

// Process of a case that waits for its turn (measure/turns.h).
struct Waiting {
  std::string refused{};  // why it cannot work in turns with others; empty: it can
  double bytes = 0;       // that it may hold meanwhile
};

// Answers a kind's questions about its cases without running them. It keeps nothing between calls.
class KindRules {
 public:
  virtual ~KindRules() = default;

  // The device that tells two cases of this kind apart: "cpu", "cuda:1", "cuda".
  [[nodiscard]] virtual std::string device(const config::Case& c) const = 0;
  // Digest of the recorded schedule that the case replays; empty: none.
  [[nodiscard]] virtual std::string schedule(const config::Case&) const { return {}; }
  // Images or sequences that one iteration completes.
  [[nodiscard]] virtual double items_per_iteration(const config::Case& c) const = 0;
  // Name of these items: that of the case's model.
  [[nodiscard]] virtual std::string item(const config::Case& c) const {
    return config::item_of_model(c.settings.text("model"));
  }
  // Seconds that a pass of the case may take.
  [[nodiscard]] virtual double timeout_s(const config::Case& c) const {
    return c.settings.number("timeout_s");
  }
  // Operations of one item, as far as they are known before anything runs.
  [[nodiscard]] virtual result::Flops flops(const config::Case&) const { return {}; }

  // Roughly how long the case takes.
  [[nodiscard]] virtual double seconds(const config::Case& c, const Pace& pace) const = 0;
  // `hosts`: of the launch.
  [[nodiscard]] virtual Outlook outlook(const config::Case& c, const EngineDirectory& engines,
                                        int hosts) const = 0;
  // A warning before anything runs, though the case may work out; empty: none.
  [[nodiscard]] virtual std::string warning(const config::Case&, const EngineDirectory&,
                                            int /*hosts*/) const {
    return {};
  }
  // Device that auto means here, where it decides which options have an effect: cpu | cuda.
  [[nodiscard]] virtual std::string auto_device(const EngineDirectory&) const { return "cpu"; }
  // Throws Error(kUsage) for a variable of a tool that measures this kind which would have no effect here.
  virtual void check_environment(const Environment&) const {}
  // Why the case cannot run in the calling process; empty: it can.
  [[nodiscard]] virtual std::string not_in_process(const config::Case&) const { return {}; }

  // Where the ranks of a case run; of a kind that has ranks.
  [[nodiscard]] virtual RankHome rank_home(const config::Case&, const EngineDirectory&) const { return {}; }

  // Completes the figures of a repetition from what its pass reported, and returns its samples. May take
  // tables out of the report. Throws Error(kData) where the report does not fit together.
  virtual std::vector<result::Sample> take(CaseRun& run, result::Repetition& repetition,
                                           pass::PassReport& report) const = 0;
  // Adds figures of this kind after the samples of all repetitions have been summarised.
  virtual void summarize(CaseRun&) const {}
  // Writes the files that only cases of this kind have.
  virtual void write_files(const CaseRun&) const {}
  // Keeps what a repetition measured before it failed or was interrupted. Says in words what was kept; empty:
  // nothing.
  virtual std::string keep_unfinished(CaseRun&, std::int64_t, const pass::PassReport&) const { return {}; }
  // The case with the figures of the part that a running pass has just reported; nullopt: it has none.
  [[nodiscard]] virtual std::optional<result::CaseResult> last_part(const CaseRun&,
                                                                    const pass::PassReport&) const {
    return std::nullopt;
  }

  [[nodiscard]] virtual Waiting waiting(const CaseRun&) const { return {"its ranks wait for each other"}; }

  // --resume: a check comes before the repetitions, which are worth nothing without it.
  [[nodiscard]] virtual bool has_check() const { return false; }
  // --resume: the passes of a case that is measured again may have nothing left to time.
  [[nodiscard]] virtual bool may_be_done(const CaseRun&) const { return false; }
};

// The rules of the case's kind.
const KindRules& kind_rules(config::WorkloadKind kind);

}  // namespace paceline::run
