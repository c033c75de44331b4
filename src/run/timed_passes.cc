// SPDX-License-Identifier: MIT
#include "run/timed_passes.h"

#include <fmt/format.h>

#include <algorithm>
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
#include "run/turn_groups.h"

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

// Slots of a proposal that is no new case.
std::vector<TimedSlot> slots_of(const Proposal& proposal) {
  if (const auto* round = std::get_if<TimedRound>(&proposal)) return round->slots;
  return {std::get<TimedSlot>(proposal)};
}

PassInfo info_of(const CaseRun& c, std::int64_t repetition, std::size_t number, std::size_t of, double left) {
  const auto& kind = c.definition.kind;
  const double samples = traits_of(kind).by_ranks ? 0 : kind_rules(kind).items_per_iteration(c.definition);
  PassInfo info{number, of, c.result.label, "timed", repetition, left, c.definition.id, samples};
  add_limits(info, c.base);
  return info;
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
    Timings timings;
    const auto expected = schedule.expected();
    const double at_this_pace =
                     seconds_left(static_cast<double>(clock.now_ns() - begin) * 1e-9, done, expected),
                 left = std::min(at_this_pace, std::max(0.0, schedule.seconds_left()));
    for (const auto& slot : slots_of(*proposal)) {
      require_new(slot, cases, given);
      if (auto* c = case_for(slot, cases))
        timings.push_back(
            {c, slot.repetition, info_of(*c, slot.repetition, before + ++done, before + expected, left)});
    }
    time_all(std::move(timings));
  }
}

void TimedPasses::time_all(Timings timings) {
  std::vector<const CaseRun*> cases;
  for (const auto& one : timings) cases.push_back(one.c);
  const auto alone = why_not_in_turns(cases, setup_);
  if (alone.empty()) return time_in_turns(std::move(timings));
  for (auto& one : timings) {
    one.alone = alone;
    if (!interrupt_) time_one(one);
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

pass::PassSpec TimedPasses::timed_pass(const CaseRun& c, std::int64_t repetition, const std::string& alone) {
  auto pass = c.base;
  pass.repetition = repetition;
  pass.inference.alone = alone.empty() ? "the processes ran one after the other" : alone;
  use_model_file(c, pass);
  return pass;
}

void TimedPasses::check_now(CaseRun& c) {
  std::exchange(c.later_check, std::nullopt)->run();
  keeper_.keep(c);
}

// With the check between the loop and the comparison of its outputs, where that is left to do: it neither
// disturbs the times nor delays them.
process::WorkerOutcome TimedPasses::run_pass(const Timing& timing) {
  CaseRun& c = *timing.c;
  auto pass = timed_pass(c, timing.repetition, timing.alone);
  if (!c.later_check) return runner_.run_kept(c, pass);
  pass.inference.check_file = c.later_check->file.string();
  std::exception_ptr failure;
  const auto check = [&] {
    try {
      check_now(c);
      const bool goes_on = !c.ended && !interrupt_;
      replace_file(pass.inference.check_file,
                   goes_on ? pass::to_json(timed_pass(c, timing.repetition, timing.alone)).dump() : "null");
    } catch (...) {
      failure = std::current_exception();
      replace_file(pass.inference.check_file, "null");
    }
  };
  auto outcome = runner_.run_kept(c, pass, check);
  if (failure) std::rethrow_exception(failure);
  return outcome;
}

void TimedPasses::time_one(const Timing& timing) {
  CaseRun& c = *timing.c;
  wait_for_quiet(c, timing.repetition);
  if (interrupt_) return;
  observer_.pass_begins(timing.info);
  auto outcome = run_pass(timing);
  if (c.later_check && !interrupt_) {  // it did not come so far: the check says better what is wrong
    check_now(c);
    if (!c.ended && !interrupt_) outcome = run_pass(timing);
  }
  take(timing, std::move(outcome));
}

// Cases are checked before, since a process that waits for its check would hold the others up.
void TimedPasses::time_in_turns(Timings timings) {
  for (auto& one : timings)
    if (one.c->later_check && !interrupt_) check_now(*one.c);
  std::erase_if(timings, [](const Timing& one) { return one.c->ended; });
  if (timings.empty() || interrupt_) return;
  wait_for_quiet(*timings.front().c, timings.front().repetition);
  if (interrupt_) return;
  std::vector<PassRunner::CasePass> passes;
  for (const auto& one : timings) {
    observer_.pass_begins(one.info);
    passes.push_back({one.c, timed_pass(*one.c, one.repetition, {})});
  }
  auto outcomes = runner_.run_in_turns(passes);
  for (std::size_t i = 0; i < timings.size(); ++i) take(timings[i], std::move(outcomes[i]));
}

void TimedPasses::take(const Timing& timing, process::WorkerOutcome outcome) {
  CaseRun& c = *timing.c;
  const auto repetition = timing.repetition;
  if (c.ended) {
    observer_.pass_ends(timing.info, "withdrawn: " + c.result.reason);
    observer_.case_ends(c.result);
    return keeper_.keep(c);
  }
  const auto reason = outcome.reason;
  if (outcome.ok) {
    auto& figures = outcome.report.repetition;
    figures.index = repetition;
    quiet_at_ns_ = was_quiet(figures.noise) ? SteadyClock{}.now_ns() : 0;
    const bool again = c.again.contains(repetition);
    const auto trained = outcome.report.get<pass::TrainingReport>().trained;
    apply_repetition(c, std::move(outcome.report));
    if (again && !trained.empty())
      observer_.warning(fmt::format("{}: {}; its earlier result is kept", c.result.label, trained));
  } else {
    const auto kept = keep_unfinished(c, repetition, outcome);
    if (!interrupt_) end_case(c, outcome.reason_code, outcome.reason + (kept.empty() ? "" : "; " + kept));
  }
  observer_.pass_ends(timing.info, reason);
  if (c.ended) observer_.case_ends(c.result);
  keeper_.keep(c);
}

// Returns in words what is kept.
std::string TimedPasses::keep_unfinished(CaseRun& c, std::int64_t repetition,
                                         const process::WorkerOutcome& outcome) {
  const auto kept = kind_rules(c.definition.kind).keep_unfinished(c, repetition, outcome.report);
  if (!kept.empty() && interrupt_) observer_.notice("interrupted: " + kept);
  return kept;
}

}  // namespace paceline::run
