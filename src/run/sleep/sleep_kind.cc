// SPDX-License-Identifier: MIT
#include "run/sleep/sleep_kind.h"

#include "run/case/case_run.h"
#include "run/case/case_settings.h"

namespace paceline::run {
namespace {

constexpr std::int64_t kWarmupIterations = 3;  // a sleep has no caches to warm

class SleepRules : public KindRules {
 public:
  [[nodiscard]] double items_per_iteration(const config::Case&) const override { return 1; }
  [[nodiscard]] std::string item(const config::Case&) const override { return "sleeps"; }
  std::vector<result::Sample> take(CaseRun&, result::Repetition&, pass::PassReport& report) const override {
    return report.samples;
  }
};

class SleepInRun : public KindInRun {
 public:
  void open(CaseRun& c) override {
    const auto& s = c.definition.settings;
    c.base.kind = pass::PassKind::kSleep;
    c.base.case_id = c.definition.id;
    c.base.sleep_ns = to_ns(s.number("sleep_us") * 1e-6);
    c.base.loop.warmup.mode = stats::WarmupMode::kFixed;
    c.base.loop.warmup.fixed_iterations = kWarmupIterations;
    c.base.loop.stop = stop_config(s);
    if (s.has("iterations")) c.base.loop.iterations = s.integer("iterations");
  }
};

}  // namespace

const KindRules& sleep_rules() {
  static const SleepRules kRules;
  return kRules;
}

std::unique_ptr<KindInRun> make_sleep(const KindTools&) {
  return std::make_unique<SleepInRun>();
}

}  // namespace paceline::run
