// SPDX-License-Identifier: MIT
#include "analysis/traces/trace_study.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <functional>
#include <map>
#include <numeric>

#include "analysis/late_words.h"
#include "analysis/traces/trace_checks.h"
#include "analysis/traces/trace_folder.h"
#include "analysis/traces/trace_rows.h"
#include "base/error.h"
#include "base/units.h"
#include "result/late_rank.h"
#include "result/rank_steps.h"
#include "result/step_account.h"
#include "stats/quantile.h"

namespace paceline::analysis::traces {
namespace {

using result::Number;

constexpr double kMuchWaiting = 0.05, kMuchExposed = 0.10, kMuchDataWait = 0.05,
                 kMuchIdle = 0.10;  // of a step
constexpr double kMoreWork = 1.05;  // elements of a rank's inputs over those of the others

// The tables that the rest of Paceline takes accounts from. One bucket says how much of the exposed
// communication ends on all ranks together; a step without such communication has none.
std::vector<result::RankSteps> tables_of(const std::vector<RankTrace>& ranks) {
  std::vector<result::RankSteps> tables;
  for (const auto& one : ranks) {
    result::RankSteps& table = tables.emplace_back();
    table.rank.rank = *one.rank;
    for (const auto& step : one.steps) {
      result::StepRow row;
      row.step = step.number;
      row.start_ns = step.begin;
      row.step_ns = step.length;
      row.data_wait_ns = step.data_wait;
      row.forward_ns = step.forward;
      row.backward_ns = step.backward;
      row.exposed_ns = step.exposed;
      row.optimizer_ns = step.optimizer;
      if (step.together > 0)
        row.buckets.emplace_back().launch_ns = step.length - step.optimizer - step.exposed_together;
      table.rows.push_back(row);
    }
  }
  return tables;
}

Number share_of(const result::Estimate& part, const Number& whole) {
  if (!part.value) return part.value;
  return whole && *whole > 0 ? Number(*part.value / *whole) : Number::missing("a step takes no time");
}

// Of the exchanges in which some rank was last.
void set_last_shares(TraceStudy& study, const std::vector<result::StepAccount>& accounts) {
  std::vector<double> last(study.ranks.size());
  for (const auto& step : accounts)
    if (step.last) ++last[*step.last];
  const double all = std::accumulate(last.begin(), last.end(), 0.0);
  for (std::size_t r = 0; r < last.size() && last.size() > 1; ++r)
    study.ranks[r].last_share =
        all > 0 ? Number(last[r] / all) : Number::missing("the ranks are level: none comes last");
}

void make_missing(result::Estimate& e, const char* why) {
  e.value = e.ci_low = e.ci_high = Number::missing(why);
}

constexpr const char* kNoExchange =
    "the ranks exchange nothing that ends on all of them together, so that nobody knows who waits for whom";

// Whether the steps have collectives that end on all ranks together: only these tell who came last.
bool exchanges(const std::vector<RankTrace>& ranks) {
  return std::ranges::any_of(ranks, [](const RankTrace& one) {
    return std::ranges::any_of(one.steps, [](const TraceStep& s) { return s.together > 0; });
  });
}

// Whether ranks talk to each other mostly in pairs, as the stages of a pipeline do.
bool sends_and_receives(const std::vector<RankTrace>& ranks) {
  double pairs = 0, all = 0;
  for (const auto& one : ranks)
    for (const auto& step : one.steps)
      pairs += static_cast<double>(step.point_to_point), all += static_cast<double>(step.communication);
  return pairs > all / 2;
}

// All of the exposed communication of the typical rank; its interval is not known.
result::Estimate with_waiting(const result::StepCosts& costs) {
  result::Estimate both = costs.communication_ns;
  if (both.value && costs.straggler_wait_ns.value) both.value = *both.value + *costs.straggler_wait_ns.value;
  both.ci_low = both.ci_high = Number::missing(kNoExchange);
  return both;
}

// Costs and shares, with what is not in the traces taken out again.
void set_costs(TraceStudy& study, const std::vector<RankTrace>& ranks) {
  const auto tables = tables_of(ranks);
  const auto accounts = result::accounts_of(result::aligned(tables));
  auto& costs = study.costs = result::costs_of(accounts);
  for (const auto& account : accounts) study.steps += account.steps;
  study.step_ns = costs.step_ns.value;
  const auto untimed = std::ranges::find_if_not(ranks, times_communication);
  if (untimed != ranks.end() && study.world != 1)
    make_missing(costs.communication_ns, why_untimed(*untimed)),
        make_missing(costs.straggler_wait_ns, why_untimed(*untimed));
  study.pipeline = sends_and_receives(ranks);
  if (ranks.size() > 1 && !exchanges(ranks)) {
    costs.communication_ns = with_waiting(costs);
    make_missing(costs.straggler_wait_ns, kNoExchange);
  }
  const Number both = share_of(costs.communication_ns, study.step_ns);
  if (ranks.size() == 1)
    make_missing(costs.straggler_wait_ns, "the trace of one rank does not say who is late");
  study.straggler_wait_share = share_of(costs.straggler_wait_ns, study.step_ns);
  study.communication_share = both;
  study.sync_stall_share = both && study.straggler_wait_share
                               ? Number(*both + *study.straggler_wait_share)
                               : (untimed == ranks.end() ? both : study.straggler_wait_share);
  if (std::ranges::none_of(ranks, &RankTrace::has_loader))
    make_missing(costs.data_wait_ns, "no data loader in the traces");
  study.data_wait_share = share_of(costs.data_wait_ns, study.step_ns);
  if (untimed != ranks.end() || !exchanges(ranks)) return;
  std::vector<result::RankFigures> figures;
  for (const auto& table : tables) figures.push_back(table.rank);
  for (auto& late : result::late_rank_of(accounts, figures))
    (late.certain ? study.late : study.suspected).push_back(std::move(late));
  set_last_shares(study, accounts);
}

// Steps of one rank that lack the same are one sentence.
void add_left_out(TraceStudy& study, const std::vector<RankTrace>& ranks) {
  for (const auto& one : ranks) {
    std::map<std::string, std::vector<std::int64_t>> why;
    for (const auto& step : one.left_out) why[step.why].push_back(step.number);
    for (const auto& [reason, steps] : why)
      study.left_out.push_back(fmt::format("{} (rank {}): {}", listed("step", steps), *one.rank, reason));
    study.left_out.insert(study.left_out.end(), one.notes.begin(), one.notes.end());
  }
}

// Of a run whose other ranks have no trace.
std::string among_these(const TraceStudy& study) {
  const auto have = static_cast<std::int64_t>(study.ranks.size());
  if (!study.world)
    return fmt::format("how many ranks there are: late ranks are judged among these {}", have);
  return fmt::format("the other {}: late ranks are judged among these {} of {}",
                     plural(*study.world - have, "rank"), have, *study.world);
}

void add_untold(TraceStudy& study, const std::vector<RankTrace>& ranks) {
  const auto tell = [&](std::string text) { study.untold.push_back(std::move(text)); };
  if (ranks.size() == 1 && study.world != 1)
    tell(
        fmt::format("which rank is late: this is the trace of rank {} alone{}; its communication includes "
                    "waiting for the others",
                    *ranks.front().rank, study.world ? fmt::format(", of {}", *study.world) : ""));
  if (ranks.size() > 1 && study.late.empty() && study.steps < result::kFewestLate)
    tell(
        fmt::format("with certainty, which rank is late: {} are too few; record at least {} "
                    "(torch.profiler.schedule(active={}))",
                    plural(study.steps, "step"), result::kFewestSteps, result::kFewestSteps));
  if (ranks.front().rank_assumed && ranks.front().communication != Communication::kNone)
    tell(
        fmt::format("which rank {} is of: it is taken as rank 0 of 1; if there are others, its communication "
                    "includes waiting for them",
                    ranks.front().file));
  if (ranks.size() > 1 && study.world != static_cast<std::int64_t>(ranks.size())) tell(among_these(study));
  const auto lacking = [&](bool RankTrace::*has, const char* text) {
    if (std::ranges::none_of(ranks, has)) tell(text);
  };
  lacking(&RankTrace::has_loader, "waiting for input: nothing iterates over a torch DataLoader in the steps");
  lacking(&RankTrace::has_backward, "the backward pass: there are no autograd functions; all is in forward");
  lacking(&RankTrace::has_optimizer, "the optimizer's time: no Optimizer.step in the steps");
  lacking(&RankTrace::device,
          "whether the host holds up a device: there are no events of one "
          "(ProfilerActivity.CUDA)");
  const auto untimed = std::ranges::find_if_not(ranks, times_communication);
  if (untimed == ranks.end() && ranks.size() > 1 && !exchanges(ranks))
    tell(fmt::format("which rank is late: {}", kNoExchange));
  if (untimed != ranks.end() && study.world != 1)
    tell(fmt::format("how long communication takes: {} (rank {})", why_untimed(*untimed), *untimed->rank));
}

std::string percent_of(double share) {
  return format_percent(share, share < 0.1 ? 1 : 0);
}

struct LatePart {
  std::string_view part, advice, with_shapes;  // with_shapes: where the traces show that inputs are alike
};
constexpr std::array<LatePart, 6> kLateAdvice{
    {{"data", "give that rank's DataLoader more workers, and compare its storage with that of the others",
      ""},
     {"forward",
      "compare what it computes with the others (batch shape, padding, hooks, logging on one rank), then "
      "its cores, clocks and neighbours",
      "look for hooks and logging on that rank only, then compare its cores, clocks and neighbours"},
     {"backward", "compare its batch shapes with the others, then its cores, clocks and neighbours",
      "compare its cores, clocks and neighbours with those of the others"},
     {"the optimizer", "look for work that only one rank does after the step: checkpoints, metrics, logging",
      ""},
     {"between steps",
      "look for work that only one rank does between steps: checkpoints, evaluation, logging", ""},
     {"host", "look for Python code between the operators of that rank: logging, .item(), garbage collection",
      ""}}};

// What the late rank computes on, beside the median of the others.
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

bool computes_more(const std::optional<Shapes>& shapes) {
  return shapes && shapes->work >= kMoreWork;
}

std::string shape_words(const std::optional<Shapes>& shapes) {
  if (!shapes) return {};
  if (!computes_more(shapes)) return "; its inputs are as large as those of the others";
  if (shapes->batch && shapes->others_batch && *shapes->batch > *shapes->others_batch)
    return fmt::format("; its batches are larger: {:.4g} samples, the others have {:.4g}", *shapes->batch,
                       *shapes->others_batch);
  return fmt::format("; its inputs are larger: {} more elements than the others have",
                     percent_of(shapes->work - 1));
}

// A rank that computes more is late for that; shapes are worth a look only where the trace lacks them.
std::string late_advice(const result::LateRank& late, const std::optional<Shapes>& shapes) {
  if (computes_more(shapes))
    return "give all ranks batches of one size (drop_last, a sampler that sorts by length, the same padding)";
  const auto row = std::ranges::find(kLateAdvice, late.late_in, &LatePart::part);
  if (row == kLateAdvice.end()) return "compare its machine with that of the others";
  return std::string(shapes && !row->with_shapes.empty() ? row->with_shapes : row->advice);
}

void add_late(TraceStudy& study) {
  for (const auto& late : study.late) {
    const auto shapes = shapes_of(study, late.rank);
    study.bottlenecks.push_back(
        {.title = fmt::format("rank {} is late{}; the others wait for it", late.rank,
                              late.late_in.empty() ? "" : " in " + late.late_in),
         .evidence = fmt::format(
             "it {} (p {}); its own part of a step takes {} longer than that of the others{}{}",
             came_last_words(late), *late.chance < 0.001 ? "< 0.001" : fmt::format("= {:.3f}", *late.chance),
             format_duration_ns(*late.late_ns), when_late_words(late), shape_words(shapes)),
         .advice = late_advice(late, shapes),
         .cost_ns = *late.cost_ns});
  }
  for (const auto& late : study.suspected) {
    const auto shapes = shapes_of(study, late.rank);
    study.bottlenecks.push_back(
        {.title = fmt::format("rank {} {}; too few steps to be certain: record at least {}", late.rank,
                              came_last_words(late), result::steps_for_certainty(late)),
         .evidence =
             fmt::format("its own part of a step{} takes {} longer than that of the others{}{}",
                         late.late_in.empty() ? "" : ", most of it in " + late.late_in + ",",
                         format_duration_ns(*late.late_ns), when_late_words(late), shape_words(shapes)),
         .advice = late_advice(late, shapes),
         .cost_ns = *late.cost_ns});
  }
}

// Which rank came last most often, where none is to blame.
std::string last_words(const TraceStudy& study) {
  const auto most = std::ranges::max_element(
      study.ranks, {}, [](const RankRow& row) { return row.last_share ? *row.last_share : 0; });
  if (!most->last_share) return most->last_share.reason();
  return fmt::format("no rank came last more often than rank {}, in {} of them", most->rank,
                     percent_of(*most->last_share));
}

// Something whose share of the step is above its limit.
struct Suspect {
  const Number& share;
  double limit;
  std::string title, evidence, advice;
};

std::vector<Suspect> suspects_of(const TraceStudy& study, const Number& waiting) {
  const auto overlap = study.overlap_ratio ? fmt::format("computing hides {} of the communication",
                                                         percent_of(*study.overlap_ratio))
                                           : study.overlap_ratio.reason();
  const auto among = [&](const char* rest) {
    return fmt::format("{}, {}", plural(study.steps, "step"), rest);
  };
  return {
      {waiting, kMuchWaiting, "ranks wait for each other, and no single rank is to blame",
       among(last_words(study).c_str()),
       "look for what varies from step to step: batch shapes, the loader, neighbours on the machine"},
      study.pipeline
          ? Suspect{study.communication_share, kMuchExposed,
                    "stages of the pipeline wait for each other: ranks send and receive, and compute nothing "
                    "meanwhile",
                    overlap,
                    "more micro-batches per step, stages of equal work (move layers from the busiest rank), "
                    "a "
                    "schedule with fewer bubbles (1F1B, interleaved)"}
          : Suspect{study.communication_share, kMuchExposed,
                    study.ranks.size() > 1
                        ? "communication is exposed: nothing is computed beside it"
                        : "communication is exposed, or waits for other ranks: nothing is computed beside it",
                    overlap,
                    "larger batches or gradient accumulation, smaller buckets (bucket_cap_mb), a compression "
                    "hook (fp16_compress), a faster link"},
      {study.data_wait_share, kMuchDataWait, "training waits for its input",
       among("the time is in the DataLoader's __next__"),
       "more num_workers, persistent_workers, pin_memory; cheaper decoding, or data that are prepared "
       "beforehand"},
      {study.host_bound_share, kMuchIdle, "the device idles while the host works",
       "no kernel and no copy runs in that time",
       "larger batches, CUDA graphs or torch.compile, fewer .item() and prints in the step"}};
}

void add_bottlenecks(TraceStudy& study) {
  const double step = study.step_ns ? *study.step_ns : 0;
  add_late(study);
  Number waiting = study.straggler_wait_share;
  for (const auto* blamed : {&study.late, &study.suspected})
    if (waiting && !blamed->empty() && step > 0) waiting = *waiting - *blamed->front().cost_ns / step;
  for (auto& suspect : suspects_of(study, waiting))
    if (suspect.share && *suspect.share >= suspect.limit)
      study.bottlenecks.push_back({.title = std::move(suspect.title),
                                   .evidence = std::move(suspect.evidence),
                                   .advice = std::move(suspect.advice),
                                   .cost_ns = *suspect.share * step});
  for (auto& one : study.bottlenecks) one.share = step > 0 ? one.cost_ns / step : 0;
  std::ranges::stable_sort(study.bottlenecks, std::greater{}, &Bottleneck::cost_ns);
}

}  // namespace

TraceStudy study_of(std::vector<RankTrace> ranks) {
  require_one_run(ranks);
  TraceStudy study;
  study.world = ranks.front().world;
  study.first_step = ranks.front().steps.front().number;
  study.last_step = ranks.front().steps.back().number;
  std::vector<const RankTrace*> all;
  std::vector<double> idle;
  for (const auto& one : ranks) {
    all.push_back(&one);
    study.ranks.push_back(row_of(one));
    if (const auto& share = study.ranks.back().idle_share) idle.push_back(*share);
  }
  study.overlap_ratio = overlap_of(all);
  study.host_bound_share =
      idle.empty()
          ? Number::missing("the traces have no events of a device")
          : Number(std::accumulate(idle.begin(), idle.end(), 0.0) / static_cast<double>(idle.size()));
  study.operators_on_device = std::ranges::any_of(ranks, &RankTrace::device);
  study.operators = operators_of(ranks, study.operators_on_device);
  add_left_out(study, ranks);
  set_costs(study, ranks);
  add_bottlenecks(study);
  add_untold(study, ranks);
  return study;
}

TraceStudy read_traces(const std::filesystem::path& folder) {
  auto found = traces_in(folder);
  auto study = study_of(std::move(found.ranks));
  study.left_out.insert(study.left_out.begin(), found.left_out.begin(), found.left_out.end());
  return study;
}

}  // namespace paceline::analysis::traces
