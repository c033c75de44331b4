// SPDX-License-Identifier: MIT
#include "run/coordinator.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

#include "base/error.h"
#include "base/scratch_folder.h"
#include "config/option_table.h"
#include "config/value.h"
#include "result/figures/summarize.h"
#include "result/judged/noise_rules.h"
#include "run/case/idle_power.h"
#include "run/case/model_identity.h"
#include "run/case/result_keeper.h"
#include "run/case_opening.h"
#include "run/device_choice.h"
#include "run/executors.h"
#include "run/kinds.h"
#include "run/ranks/launch.h"
#include "run/resume.h"
#include "run/timed_passes.h"

namespace paceline::run {
namespace {

// Compares every case that has repetitions with its baseline. `resumed_utc`: when the run was resumed, which
// no pair of repetitions may span.
void compare_to_baselines(CaseRuns& cases, const std::vector<std::string>& resumed_utc) {
  std::map<std::string, const CaseRun*> by_id;
  for (const auto& c : cases) by_id.emplace(c.definition.id, &c);
  for (auto& c : cases) {
    if (!c.definition.baseline_id || c.result.repetitions.empty()) continue;
    const auto base = by_id.find(*c.definition.baseline_id);
    if (base == by_id.end()) continue;
    result::compare_to_baseline(c.result, base->second->result, c.definition.settings.number("confidence"),
                                result::smallest_difference(result::profile_of(c.result)), resumed_utc);
  }
}

// Enough inferences of a layer profile that an interruption spoils no profile, where those asked for take
// less time than that.
std::int64_t profiled_inferences(const CaseRun& c) {
  constexpr double kLongEnoughNs = 210e6;  // of all seven profiles
  constexpr double kMost = 700;            // each has a record per layer
  constexpr std::string_view kName = "layer_profile_inferences";
  const auto asked = c.definition.settings.integer(kName);
  const auto* option = config::find_option(kName, config::kind_bit(c.definition.kind));
  const bool typed = !option || !config::is_default(*option, {asked});
  const auto& p50 = c.result.headline.p50_ns.value;
  if (typed || !p50 || *p50 <= 0) return asked;
  return std::max(asked, static_cast<std::int64_t>(std::min(kMost, kLongEnoughNs / *p50)));
}

// Steps of a run over all cases, in order; each step is somebody else's.
class Coordinator {
 public:
  Coordinator(RunSetup setup, result::RunDirectory& directory, process::PassExecutor& executor,
              RunObserver& observer, const std::atomic<bool>& interrupt)
      : setup_(std::move(setup)),
        directory_(directory),
        observer_(observer),
        interrupt_(interrupt),
        keeper_(setup_, directory),
        idle_(kept_idle_power(directory.path())),
        scratch_(std::filesystem::absolute(directory.path()) / ".artefacts"),
        temp_(scratch_.path() / "tmp"),
        executor_(executor, setup_),
        runner_(executor_, temp_.path(), observer, interrupt),
        kinds_({setup_, runner_, observer, interrupt, directory.path(), scratch_.path(), temp_.path(),
                [this](CaseRun& c) { keeper_.keep(c); }}) {}

  result::RunResult run() {
    for (std::size_t i = 0; i < setup_.cases.size(); ++i) open(i);
    announce_run();
    if (!interrupt_) read_idle_power(cases_, runner_, directory_.path());
    prepare_all();
    TimedPasses(setup_, runner_, keeper_, observer_, interrupt_,
                {[this](config::Case added) { add(std::move(added)); }, [this](CaseRun& c) { prepare(c); }})
        .run(cases_);
    add_layer_profiles();
    const auto groups = kinds_.with_cases(cases_);
    for (const auto& [kind, cases] : groups) kind->finish(cases);
    for (const auto& [kind, cases] : groups) kind->compare(cases, keeper_.run().resumed_utc);
    compare_to_baselines(cases_, keeper_.run().resumed_utc);
    auto run = keeper_.finish(cases_, interrupt_);
    observer_.run_ends(run);
    return run;
  }

 private:
  void open(std::size_t index);
  void announce_run();
  void add(config::Case definition);
  void prepare_all();
  void prepare(CaseRun& c);
  void add_layer_profiles();

  RunSetup setup_;
  result::RunDirectory& directory_;
  RunObserver& observer_;
  const std::atomic<bool>& interrupt_;
  ResultKeeper keeper_;
  const std::vector<result::SampledWindow> idle_;  // of this run before it was resumed
  ScratchFolder scratch_, temp_;
  RankedExecutor executor_;
  PassRunner runner_;
  Kinds kinds_;
  CaseRuns cases_;
};

void Coordinator::open(std::size_t index) {
  auto c = open_case(setup_, kinds_, index, keeper_.run().run_id, directory_);
  c.idle = idle_power_of(c.definition, idle_);
  if (!c.ended) take_over(setup_, c, kinds_.of(c.definition), observer_);
  if (c.selected && !c.ended) keep_model_identity(c);
  if (c.ended) observer_.case_ends(c.result);
  cases_.push_back(std::move(c));
  keeper_.keep(cases_.back());
}

void Coordinator::announce_run() {
  std::size_t repetitions = 0;
  for (const auto& c : cases_)
    repetitions = std::max(repetitions, static_cast<std::size_t>(c.result.repetitions_planned));
  const auto& run = keeper_.run();
  observer_.run_begins({run.experiment_name, directory_.path().string(), cases_.size(), repetitions,
                        &run.environment, device_lines(setup_.cases)});
  report_remarks(setup_.plan, setup_.cases, setup_.engines, setup_.launch ? setup_.launch->hosts() : 1,
                 observer_);
  keeper_.write_summary();
}

void Coordinator::add(config::Case definition) {
  const bool known = std::ranges::count(setup_.cases, definition.id, &config::Case::id) > 0;
  if (known || setup_.launch)
    throw Error(ErrorCode::kInternal,
                known ? fmt::format("the schedule adds case {}, which the run has", definition.id)
                      : fmt::format("the schedule adds case {} to a launch", definition.id));
  setup_.cases.push_back(std::move(definition));
  open(setup_.cases.size() - 1);
}

// Without a schedule that decides, every case is measured in turns with all others, which preparing one of
// them between two would hold apart.
void Coordinator::prepare_all() {
  if (setup_.schedule) return;
  for (auto& c : cases_)
    if (!c.ended && c.selected && !interrupt_) prepare(c);
}

void Coordinator::add_layer_profiles() {
  for (auto& c : cases_)
    if (setup_.schedule && c.definition.settings.has("layer_profile") && setup_.schedule->asks_layers(c)) {
      c.definition.settings.set("layer_profile_inferences", profiled_inferences(c));
      c.definition.settings.set("layer_profile", true);
    }
}

void Coordinator::prepare(CaseRun& c) {
  c.prepared = true;
  kinds_.of(c.definition).prepare(c);
  if (c.ended) observer_.case_ends(c.result);
  keeper_.keep(c);
}

}  // namespace

result::RunResult run_plan(RunSetup setup, result::RunDirectory& directory, RunObserver& observer,
                           const std::atomic<bool>& interrupt, process::PassExecutor& executor) {
  return Coordinator(std::move(setup), directory, executor, observer, interrupt).run();
}

}  // namespace paceline::run
