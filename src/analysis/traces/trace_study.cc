// SPDX-License-Identifier: MIT
#include "analysis/traces/trace_study.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <set>

#include "analysis/cause_words.h"
#include "analysis/finding_table.h"
#include "analysis/traces/attached_study.h"
#include "analysis/traces/exchanges.h"
#include "analysis/traces/source_words.h"
#include "analysis/traces/trace_checks.h"
#include "analysis/traces/trace_folder.h"
#include "analysis/traces/trace_tables.h"
#include "analysis/trained_cases.h"
#include "base/error.h"
#include "base/units.h"
#include "result/figures/late_rank.h"
#include "result/figures/step_account.h"
#include "result/figures/summarize_training.h"
#include "stats/quantile.h"

namespace paceline::analysis::traces {
namespace {

using result::OwnPart;

constexpr double kMoreWork = 1.05;  // elements of a rank's inputs over those of the others

Number share_of(const result::Estimate& part, const Number& whole) {
  if (!part.value) return part.value;
  return whole && *whole > 0 ? Number(*part.value / *whole) : Number::missing("a step takes no time");
}

// Shares refer to the exchanges in which some rank was last.
void set_last_shares(TraceStudy& study, const std::vector<result::StepAccount>& accounts) {
  std::vector<double> last(study.ranks.size());
  for (const auto& step : accounts)
    if (step.last) ++last[*step.last];
  const double all = std::accumulate(last.begin(), last.end(), 0.0);
  for (std::size_t r = 0; r < last.size() && last.size() > 1; ++r)
    study.ranks[r].last_share =
        all > 0 ? Number(last[r] / all) : Number::missing("the ranks are level: none comes last");
}

// The rows of the ranks as the accounts have them, so that a figure of the typical rank is the same wherever
// it stands. What a rank does not know stays unknown.
void set_rows(TraceStudy& study, const std::vector<RankTrace>& ranks, const Waits& waits,
              const std::vector<result::StepAccount>& accounts) {
  for (std::size_t r = 0; r < ranks.size() && !accounts.empty(); ++r) {
    result::RankAccount all;
    for (const auto& one : accounts) {
      for (const OwnPart part : result::kOwnParts) all.own[part] += one.ranks[r].own[part];
      all.communication += one.ranks[r].communication + one.ranks[r].straggler_wait;
    }
    const auto set = [&](Number& figure, double sum) {
      if (figure) figure = sum / static_cast<double>(study.steps);
    };
    RankRow& row = study.ranks[r];
    set(row.step_ns, all.sum());
    set(row.data_wait_ns, all.own[OwnPart::kDataWait]);
    set(row.forward_ns, all.own[OwnPart::kForward]);
    set(row.backward_ns, all.own[OwnPart::kBackward]);
    set(row.optimizer_ns, all.own[OwnPart::kOptimizer]);
    set(row.exposed_ns, all.communication);
    set(row.rest_ns, all.own[OwnPart::kHost] + all.own[OwnPart::kPause]);
    if (row.communication_ns) row.communication_ns = mean_communication(ranks, r, waits, accounts);
  }
}

void make_missing(result::Estimate& e, const char* why) {
  e.value = e.ci_low = e.ci_high = Number::missing(why);
}

constexpr const char* kNoExchange =
    "the ranks exchange nothing that ends on all of them together, so that nobody knows who waits for whom";

// Whether the steps have collectives that end on all ranks together: only these tell who came last.
bool exchanges(const Waits& waits) {
  return std::ranges::any_of(waits.steps, [](const StepWaits& one) { return one.level.has_value(); });
}

constexpr const char* kUnseenExchange =
    "no collective of torch.distributed was seen on all ranks; ranks that exchange by another library, or "
    "not "
    "at all, look like this";

bool is_silent(const RankTrace& one) {
  return one.communication == Communication::kNone;
}

// Ranks of an attached job, of which some show no collective at all.
bool are_unheard(const std::vector<RankTrace>& ranks) {
  return ranks.size() > 1 && ranks.front().attached && std::ranges::any_of(ranks, is_silent);
}

// Why nobody knows who waits for whom.
const char* why_no_exchange(const std::vector<RankTrace>& ranks) {
  if (are_unheard(ranks)) return kUnseenExchange;
  const auto unknown = [](const Exchange& one) { return one.kind == CallKind::kUnknown; };
  for (const auto& one : ranks)
    for (const auto& step : one.steps)
      if (std::ranges::any_of(step.exchanges, unknown))
        return "the traces do not say what their kernels of communication do: neither their names nor calls "
               "of "
               "the host tell";
  return kNoExchange;
}

// Whether ranks talk to each other mostly in pairs, as the stages of a pipeline do.
bool sends_and_receives(const std::vector<RankTrace>& ranks) {
  double pairs = 0, all = 0;
  for (const auto& one : ranks)
    for (const auto& step : one.steps)
      pairs += static_cast<double>(step.point_to_point), all += static_cast<double>(step.communication);
  return pairs > all / 2;
}

// Whether parameters are sharded: step files name FSDP, in traces gradients are scattered.
bool are_sharded(const std::vector<RankTrace>& ranks) {
  const auto scatters = [](const TraceStep& step) {
    return std::ranges::any_of(step.exchanges,
                               [](const Exchange& one) { return one.kind == CallKind::kReduceScatter; });
  };
  return std::ranges::any_of(ranks, [&](const RankTrace& one) {
    return one.attached ? one.attached->sharded : std::ranges::any_of(one.steps, scatters);
  });
}

// All of the exposed communication of the typical rank; its interval is not known.
result::Estimate with_waiting(const result::StepCosts& costs, const char* why) {
  result::Estimate both = costs.communication_ns;
  if (both.value && costs.straggler_wait_ns.value) both.value = *both.value + *costs.straggler_wait_ns.value;
  both.ci_low = both.ci_high = Number::missing(why);
  return both;
}

// Parts that no rank shows are unknown, and not zero.
void set_unseen(result::StepCosts& costs, const std::vector<RankTrace>& ranks) {
  if (std::ranges::none_of(ranks, &RankTrace::has_loader))
    make_missing(costs.own_ns[OwnPart::kDataWait], "no data loader in the traces");
  if (!ranks.front().attached) return;
  const auto& words = source_words(ranks.front());
  const auto unless = [&](bool RankTrace::*has, OwnPart part, const char* why) {
    if (std::ranges::none_of(ranks, has)) make_missing(costs.own_ns[part], why);
  };
  unless(&RankTrace::has_loader, OwnPart::kDataWait, words.no_loader);
  unless(&RankTrace::has_forward, OwnPart::kForward, words.no_forward);
  unless(&RankTrace::has_backward, OwnPart::kBackward, words.no_backward);
  unless(&RankTrace::has_optimizer, OwnPart::kOptimizer, words.no_optimizer);
}

// Shares of parts that are unknown are unknown, too.
void set_unseen_shares(result::Training& training) {
  for (const OwnPart part : result::kOwnParts) {
    const auto measured = result::traits_of(part).measured;
    const auto& own = training.costs.own_ns[part].value;
    if (measured != result::StepPart::kCount && !own)
      training.shares[measured] = Number::missing(own.reason());
  }
}

// Median step time of a rank.
result::Estimate median_step(const std::vector<result::StepAccount>& accounts, std::size_t rank) {
  std::vector<double> steps;
  for (const auto& one : accounts) steps.push_back(one.ranks[rank].sum() / static_cast<double>(one.steps));
  result::Estimate estimate;
  if (steps.empty()) return estimate;
  const auto p50 = stats::estimate_quantile(steps, stats::kPpmP50);
  const auto number = [](const std::optional<double>& value) {
    return Number(value, "too few steps for its interval");
  };
  estimate.value = number(p50.value), estimate.confidence = p50.confidence;
  estimate.ci_low = number(p50.ci_low), estimate.ci_high = number(p50.ci_high);
  estimate.ci_method = p50.ci_method;
  return estimate;
}

std::set<std::int64_t> steps_in(const std::vector<result::StepAccount>& accounts) {
  std::set<std::int64_t> numbers;
  for (const auto& one : accounts)
    for (auto number = one.step - one.steps + 1; number <= one.step; ++number) numbers.insert(number);
  return numbers;
}

// The job as a case that has trained, without what is not in the traces.
void set_job(TraceStudy& study, const std::vector<RankTrace>& ranks, const Waits& waits) {
  const auto tables = tables_of(ranks, waits);
  const auto accounts = result::accounts_of(result::aligned(tables));
  for (const auto& account : accounts) study.steps += account.steps;
  set_rows(study, ranks, waits, accounts);
  const auto untimed = std::ranges::find_if_not(ranks, times_communication);
  study.job.benchmark.kind = WorkloadKind::kTraining;
  study.job.benchmark.params = {{kTraces, "true"}};
  if (sends_and_receives(ranks)) study.job.benchmark.params[kPipeline] = "true";
  const bool sharded = are_sharded(ranks);
  if (sharded) study.job.benchmark.params[kSharded] = "true";
  const auto wrapped = [](const RankTrace& one) { return !one.attached || one.has_forward; };
  if (!sharded && std::ranges::none_of(ranks, wrapped)) study.job.benchmark.params[kUnwrapped] = "true";
  auto& t = study.job.payload.emplace<result::Training>();
  t.ddp = untimed == ranks.end() && ranks.size() > 1 && exchanges(waits);
  result::summarize_training(t, tables, 0);
  if (!t.ddp) t.sync_variation = Number::missing(why_no_exchange(ranks));
  auto& costs = t.costs;
  study.step_ns = costs.step_ns.value;
  if (untimed != ranks.end() && study.world != 1)
    make_missing(costs.communication_ns, why_untimed(*untimed)),
        make_missing(costs.straggler_wait_ns, why_untimed(*untimed));
  const bool alone =
      ranks.size() == 1 && !is_silent(ranks.front()) && (study.world != 1 || ranks.front().rank_assumed);
  if (alone || (ranks.size() > 1 && !exchanges(waits))) study.job.benchmark.params[kWithWaiting] = "true";
  if (ranks.size() == 1) {
    make_missing(costs.straggler_wait_ns, "the trace of one rank does not say who is late");
  } else if (!exchanges(waits)) {
    costs.communication_ns = with_waiting(costs, why_no_exchange(ranks));
    make_missing(costs.straggler_wait_ns, why_no_exchange(ranks));
  }
  set_unseen(costs, ranks);
  set_unseen_shares(t);
  t.straggler_wait_share = share_of(costs.straggler_wait_ns, study.step_ns);
  t.communication_share = share_of(costs.communication_ns, study.step_ns);
  t.data_wait_share = share_of(costs.own_ns[OwnPart::kDataWait], study.step_ns);
  t.exposed_share = shape_of(study.job).stall_share;
  study.costs = costs;
  // Idle time of the device shows better than gaps between operators whether the host keeps it waiting.
  study.typical = result::typical_rank(accounts);
  study.job.headline.p50_ns = median_step(accounts, study.typical);
  study.exchanges = exchanges_of(ranks[study.typical], steps_in(accounts));
  const Number& idle = study.ranks[study.typical].idle_share;
  make_missing(costs.own_ns[OwnPart::kHost], "the traces have no events of a device");
  if (idle && study.step_ns) costs.own_ns[OwnPart::kHost].value = *idle * *study.step_ns;
  if (t.ddp)
    set_last_shares(study, accounts);
  else if (ranks.size() > 1)
    for (auto& row : study.ranks) row.last_share = t.sync_variation;
}

// Steps of one rank that lack the same are one sentence.
void add_left_out(TraceStudy& study, const std::vector<RankTrace>& ranks) {
  for (const auto& one : ranks) {
    std::map<std::string, std::vector<std::int64_t>> why;
    if (!one.attached)  // else AttachedStudy has them
      for (const auto& step : one.left_out) why[step.why].push_back(step.number);
    for (const auto& [reason, steps] : why)
      study.left_out.push_back(fmt::format("{} (rank {}): {}", listed("step", steps), *one.rank, reason));
    study.left_out.insert(study.left_out.end(), one.notes.begin(), one.notes.end());
  }
}

// Qualifies a run whose other ranks have no trace.
std::string among_these(const TraceStudy& study) {
  const auto have = static_cast<std::int64_t>(study.ranks.size());
  if (!study.world)
    return fmt::format("how many ranks there are: late ranks are judged among these {}", have);
  return fmt::format("the other {}: late ranks are judged among these {} of {}",
                     plural(*study.world - have, "rank"), have, *study.world);
}

void add_untold(TraceStudy& study, const std::vector<RankTrace>& ranks, const Waits& waits) {
  const auto tell = [&](std::string text) { study.untold.push_back(std::move(text)); };
  const auto& words = source_words(ranks.front());
  const bool attached = study.attached.has_value();
  const bool silent = are_unheard(ranks);
  const auto& late = study.job.training()->late;
  if (ranks.size() == 1 && study.world != 1)
    tell(fmt::format("which rank is late: this is {} {} alone{}{}", words.of_one_rank, *ranks.front().rank,
                     study.world ? fmt::format(", of {}", *study.world) : "",
                     is_silent(ranks.front()) ? "" : "; its communication includes waiting for the others"));
  if (ranks.size() > 1 && !silent && late.empty() && study.steps < result::kFewestLate)
    tell(
        fmt::format("with certainty, which rank is late: {} {} too few; {}", plural(study.steps, "step"),
                    study.steps == 1 ? "is" : "are",
                    fmt::format(fmt::runtime(words.more_steps), result::kFewestSteps, result::kFewestSteps)));
  if (ranks.front().rank_assumed && ranks.front().communication != Communication::kNone)
    tell(
        fmt::format("which rank {} is of: it is taken as rank 0 of 1; if there are others, its communication "
                    "includes waiting for them",
                    ranks.front().file));
  if (ranks.size() > 1 && !silent && study.world != static_cast<std::int64_t>(ranks.size()))
    tell(among_these(study));
  const auto lacking = [&](bool RankTrace::*has, const char* text) {
    if (std::ranges::none_of(ranks, has)) tell(text);
  };
  lacking(&RankTrace::has_loader, words.without_loader);
  lacking(&RankTrace::has_forward, words.without_forward);
  lacking(&RankTrace::has_backward, words.without_backward);
  lacking(&RankTrace::has_optimizer, words.without_optimizer);
  if (!attached || !study.attached->device.empty()) lacking(&RankTrace::device, words.without_device);
  if (!late.empty() && !attached && !study.ranks.front().input_elements)
    tell(fmt::format("whether rank {} computes more than the others: {}", late.front().rank,
                     study.ranks.front().input_elements.reason()));
  const auto untimed = std::ranges::find_if_not(ranks, times_communication);
  if (ranks.size() > 1 && !exchanges(waits) && (untimed == ranks.end() || silent))
    tell(fmt::format("which rank is late: {}", why_no_exchange(ranks)));
  if (untimed != ranks.end() && !silent && study.world != 1)
    tell(fmt::format("how long communication takes: {} (rank {})", why_untimed(*untimed), *untimed->rank));
}

// Exchanges and kernels whose place is not known as it should be.
void add_unattributed(TraceStudy& study, const std::vector<RankTrace>& ranks, const Waits& waits) {
  const auto tell = [&](std::string text) { study.untold.push_back(std::move(text)); };
  if (waits.unmatched > 0 && ranks.size() > 1 && !are_unheard(ranks))
    tell(
        fmt::format("which exchanges of the ranks belong together in {}: {}; there all exchanges of a step "
                    "count as one",
                    plural(waits.unmatched, "step"), waits.unmatched_words));
  for (const auto& one : ranks)
    if (one.placed > 0)
      tell(
          fmt::format("what launched {} of {}: they have no correlation, and count where kernels beside them "
                      "do",
                      plural(one.placed, "kernel"), one.file));
  if (study.steps == 1)
    tell(
        "how much steps vary, and what the steps before leave to this one: one step is in the figures; "
        "record "
        "two and more");
}

// Shapes that the late rank computes on, beside the median of the others.
struct Shapes {
  std::optional<double> batch, others_batch;
  double work = 0;  // elements of its inputs over those of the others
};

std::optional<double> median_of(const std::vector<RankRow>& rows, std::int64_t but, Number RankRow::*figure) {
  std::vector<double> values;
  for (const auto& row : rows)
    if (row.rank != but && row.*figure) values.push_back(*(row.*figure));
  return values.empty() ? std::nullopt : std::optional(stats::median(values));
}

// Nullopt where the traces have no shapes.
std::optional<Shapes> shapes_of(const TraceStudy& study, std::int64_t rank) {
  const auto row = std::ranges::find(study.ranks, rank, &RankRow::rank);
  const auto others = median_of(study.ranks, rank, &RankRow::input_elements);
  if (row == study.ranks.end() || !row->input_elements || !others || *others <= 0) return std::nullopt;
  return Shapes{row->batch.value(), median_of(study.ranks, rank, &RankRow::batch),
                *row->input_elements / *others};
}

std::string shape_words(const Shapes& shapes) {
  if (shapes.batch && shapes.others_batch && *shapes.batch > *shapes.others_batch)
    return fmt::format("its batches are larger: {:.4g} samples, the others have {:.4g}", *shapes.batch,
                       *shapes.others_batch);
  return fmt::format("its inputs are larger: {} more elements than the others have",
                     format_percent(shapes.work - 1));
}

bool is_named(const result::LateRank& late, const std::string& cause) {
  return std::ranges::find(late.causes, cause, &result::LateCause::name) != late.causes.end();
}

// A rank that computes more is late for that.
void add_causes(TraceStudy& study) {
  for (auto& late : study.job.training()->late) {
    if (const auto shapes = shapes_of(study, late.rank); shapes && shapes->work >= kMoreWork)
      late.causes.push_back({kLargerInputs, {}, shape_words(*shapes)});
    else if (late.late_in == traits_of(OwnPart::kDataWait).late_in &&
             !is_named(late, result::late_cause::kLoader))
      late.causes.push_back(
          {result::late_cause::kLoader, {}, "its DataLoader takes longer than those of the others"});
  }
}

std::vector<Bottleneck> bottlenecks_in(const result::CaseResult& job) {
  result::RunResult run;
  run.cases = {job};
  return bottlenecks_of(job, find_all(run));
}

}  // namespace

TraceStudy study_of(std::vector<RankTrace> ranks) {
  require_one_run(ranks);
  TraceStudy study;
  study.world = ranks.front().world;
  study.first_step = ranks.front().steps.front().number;
  study.last_step = ranks.front().steps.back().number;
  std::vector<const RankTrace*> all;
  for (const auto& one : ranks) {
    all.push_back(&one);
    study.ranks.push_back(row_of(one));
    study.recordings = std::max(study.recordings, one.recordings);
  }
  study.operators_on_device = std::ranges::any_of(ranks, &RankTrace::device);
  study.operators = operators_of(ranks, study.operators_on_device);
  add_left_out(study, ranks);
  if (ranks.front().attached) study.attached = attached_study(ranks);
  const Waits waits = waits_of(ranks);
  set_job(study, ranks, waits);
  study.job.training()->overlap_ratio = overlap_of(all);
  add_causes(study);
  study.bottlenecks = bottlenecks_in(study.job);
  add_untold(study, ranks, waits);
  add_unattributed(study, ranks, waits);
  return study;
}

TraceStudy read_traces(const std::filesystem::path& folder) {
  FoundTraces found;
  if (is_attached(folder))
    found.ranks = attached_in(folder, found.left_out);
  else
    found = traces_in(folder);
  auto study = study_of(std::move(found.ranks));
  study.left_out.insert(study.left_out.begin(), found.left_out.begin(), found.left_out.end());
  return study;
}

}  // namespace paceline::analysis::traces
