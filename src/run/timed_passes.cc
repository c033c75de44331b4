// SPDX-License-Identifier: MIT
#include "run/timed_passes.h"

#include <fmt/format.h>

#include <exception>
#include <set>
#include <utility>

#include "base/clock.h"
#include "base/error.h"
#include "base/file.h"
#include "base/random.h"
#include "run/case/kind_rules.h"
#include "run/case/quiet.h"
#include "run/more_pairs.h"

namespace paceline::run {
namespace {

constexpr int kMostFailedWaits = 2;
constexpr std::int64_t kStillQuietNs = 1'000'000'000;  // after a window without others

// At the pace so far.
double seconds_left(double seconds, std::size_t done, std::size_t of) {
  return done == 0 || of < done ? 0 : seconds / static_cast<double>(done) * static_cast<double>(of - done);
}

// Limits of a loop that asks for the next inference when one is done; a schedule has others.
void add_limits(PassInfo& info, const pass::PassSpec& spec) {
  if (traits_of(spec.inference.load.scenario).open_loop) return;
  const auto& loop = spec.loop;
  info.samples_planned = loop.iterations.value_or(0);
  if (loop.iterations) return;
  info.most_s = static_cast<double>(loop.stop.t_max_ns) * 1e-9;
  info.fixed_time = loop.stop.t_min_ns == loop.stop.t_max_ns;
}

using GivenSlots = std::set<std::pair<std::size_t, std::int64_t>>;

// A schedule that gave a finished slot for ever would keep the run from ending.
void require_new(const TimedSlot& slot, const CaseRuns& cases, GivenSlots& given) {
  if (slot.case_index >= cases.size() || slot.repetition < 0)
    throw Error(ErrorCode::kInternal, fmt::format("the schedule asks for repetition {} of case {} of {}",
                                                  slot.repetition + 1, slot.case_index + 1, cases.size()));
  if (!given.emplace(slot.case_index, slot.repetition).second)
    throw Error(ErrorCode::kInternal, fmt::format("the schedule asks for repetition {} of {} twice",
                                                  slot.repetition + 1, cases[slot.case_index].definition.id));
}

}  // namespace

std::vector<TimedSlot> TimedPasses::order(const CaseRuns& cases) const {
  std::vector<std::int64_t> repetitions;
  for (const auto& c : cases)
    repetitions.push_back(c.ended || !c.selected ? 0 : c.result.repetitions_planned);
  return interleaved_order(repetitions, hash64(keeper_.run().run_id));
}

void TimedPasses::run(CaseRuns& cases) {
  if (setup_.schedule) return run_all(*setup_.schedule, cases, 0);
  FixedOrder all(order(cases), cases);
  run_all(all, cases, 0);
  if (interrupt_ || all.expected() == 0) return;  // a finished run stays as it is
  const auto& run = keeper_.run();
  FixedOrder more(add_pairs(cases, hash64(run.run_id), run.resumed_utc, observer_), cases);
  run_all(more, cases, all.expected());
}

void TimedPasses::run_all(Schedule& schedule, CaseRuns& cases, std::size_t before) {
  const SteadyClock clock;
  const std::int64_t begin = clock.now_ns();
  std::size_t done = 0;
  GivenSlots given;
  while (!interrupt_) {
    const auto proposal = schedule.next(cases);
    if (!proposal) return conclude(schedule, cases);
    if (const auto* added = std::get_if<config::Case>(&*proposal)) {
      arrival_.add(*added);
      continue;
    }
    const auto slot = std::get<TimedSlot>(*proposal);
    require_new(slot, cases, given);
    CaseRun* found = case_for(slot, cases);
    if (found == nullptr) continue;
    CaseRun& c = *found;
    const auto expected = schedule.expected();
    const double left = seconds_left(static_cast<double>(clock.now_ns() - begin) * 1e-9, done, expected);
    ++done;
    const double samples = traits_of(c.definition.kind).by_ranks
                               ? 0
                               : kind_rules(c.definition.kind).items_per_iteration(c.definition);
    PassInfo info{before + done, before + expected, c.result.label, "timed", slot.repetition,
                  left,          c.definition.id,   samples};
    add_limits(info, c.base);
    time_one(c, slot, info);
    keeper_.keep(c);
  }
}

CaseRun* TimedPasses::case_for(const TimedSlot& slot, CaseRuns& cases) const {
  CaseRun& c = cases[slot.case_index];
  if (c.needs(slot.repetition) && !c.prepared) arrival_.prepare(c);
  return c.needs(slot.repetition) && !interrupt_ ? &c : nullptr;
}

// After several failed waits the noise is persistent: waiting for each pass would cost more than
// the passes.
void TimedPasses::wait_for_quiet(const CaseRun& c, std::int64_t repetition) {
  if (quiet_at_ns_ > 0 && SteadyClock{}.now_ns() - quiet_at_ns_ < kStillQuietNs) return;
  const auto check = failed_waits_ >= kMostFailedWaits ? QuietCheck::kLook
                     : repetition > 0 || c.later_check ? QuietCheck::kShort
                                                       : QuietCheck::kFull;
  const bool quiet = run::wait_for_quiet(c.definition, check, observer_, interrupt_);
  failed_waits_ = quiet ? 0 : failed_waits_ + 1;
}

// Cases of which the schedule has asked for fewer repetitions than the plan allows have all that they need.
void TimedPasses::conclude(const Schedule& schedule, CaseRuns& cases) {
  for (auto& c : cases) {
    if (c.ended || !c.selected || c.result.repetitions.empty()) continue;
    c.result.repetitions_planned = std::ssize(c.result.repetitions) + std::ssize(c.trained);
    c.result.complete = c.ended = true;
    c.result.ended_because = schedule.ending(c);
    observer_.case_ends(c.result);
    keeper_.keep(c);
  }
}

pass::PassSpec TimedPasses::timed_pass(const CaseRun& c, std::int64_t repetition) {
  auto pass = c.base;
  pass.repetition = repetition;
  use_model_file(c, pass);
  return pass;
}

void TimedPasses::check_now(CaseRun& c) {
  std::exchange(c.later_check, std::nullopt)->run();
  keeper_.keep(c);
}

// With the check between the loop and the comparison of its outputs, where that is left to do: it neither
// disturbs the times nor delays them.
process::WorkerOutcome TimedPasses::run_pass(CaseRun& c, std::int64_t repetition) {
  auto pass = timed_pass(c, repetition);
  if (!c.later_check) return runner_.run_kept(c, pass);
  pass.inference.check_file = c.later_check->file.string();
  std::exception_ptr failure;
  const auto check = [&] {
    try {
      check_now(c);
      const bool goes_on = !c.ended && !interrupt_;
      replace_file(pass.inference.check_file,
                   goes_on ? pass::to_json(timed_pass(c, repetition)).dump() : "null");
    } catch (...) {
      failure = std::current_exception();
      replace_file(pass.inference.check_file, "null");
    }
  };
  auto outcome = runner_.run_kept(c, pass, check);
  if (failure) std::rethrow_exception(failure);
  return outcome;
}

void TimedPasses::time_one(CaseRun& c, const TimedSlot& slot, const PassInfo& info) {
  const auto repetition = slot.repetition;
  wait_for_quiet(c, repetition);
  if (interrupt_) return;
  observer_.pass_begins(info);
  auto outcome = run_pass(c, repetition);
  if (c.later_check && !interrupt_) {  // it did not come so far: the check says better what is wrong
    check_now(c);
    if (!c.ended && !interrupt_) outcome = run_pass(c, repetition);
  }
  if (c.ended) {
    observer_.pass_ends(info, "withdrawn: " + c.result.reason);
    return observer_.case_ends(c.result);
  }
  if (outcome.ok) {
    outcome.report.repetition.index = repetition;
    quiet_at_ns_ = was_quiet(outcome.report.repetition.noise) ? SteadyClock{}.now_ns() : 0;
    const bool again = c.again.contains(repetition);
    const auto trained = outcome.report.get<pass::TrainingReport>().trained;
    apply_repetition(c, std::move(outcome.report));
    if (again && !trained.empty())
      observer_.warning(fmt::format("{}: {}; its earlier result is kept", c.result.label, trained));
  } else {
    const auto kept = keep_unfinished(c, repetition, outcome);
    if (!interrupt_) end_case(c, outcome.reason_code, outcome.reason + (kept.empty() ? "" : "; " + kept));
  }
  observer_.pass_ends(info, outcome.ok ? "" : outcome.reason);
  if (c.ended) observer_.case_ends(c.result);
}

// Returns in words what is kept.
std::string TimedPasses::keep_unfinished(CaseRun& c, std::int64_t repetition,
                                         const process::WorkerOutcome& outcome) {
  const auto kept = kind_rules(c.definition.kind).keep_unfinished(c, repetition, outcome.report);
  if (!kept.empty() && interrupt_) observer_.notice("interrupted: " + kept);
  return kept;
}

}  // namespace paceline::run
