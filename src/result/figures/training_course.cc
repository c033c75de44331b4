// SPDX-License-Identifier: MIT
#include "result/figures/training_course.h"

#include <algorithm>
#include <numeric>
#include <span>

#include "stats/quantile.h"

namespace paceline::result {
namespace {

constexpr std::uint32_t kP95Ppm = 950'000;

// Mean over steps and ranks of the losses that are there.
Number mean_loss(std::span<const StepAcross> steps) {
  double sum = 0;
  std::int64_t n = 0;
  for (const auto& step : steps)
    for (const StepRow* row : step)
      if (row->loss) sum += *row->loss, ++n;
  return n > 0 ? Number(sum / static_cast<double>(n)) : Number::missing("not_finite");
}

Number accuracy_of(std::span<const StepAcross> steps) {
  std::int64_t correct = 0, judged = 0;
  for (const auto& step : steps)
    for (const StepRow* row : step) correct += row->correct, judged += row->judged;
  if (judged == 0) return Number::missing("no labels to judge by");
  return static_cast<double>(correct) / static_cast<double>(judged);
}

// From the first start to the last end, on the first rank's clock.
double span_ns(std::span<const StepAcross> steps) {
  const StepRow& last = *steps.back().front();
  return static_cast<double>(last.start_ns + last.step_ns - steps.front().front()->start_ns);
}

EpochFigures epoch_figures(std::span<const StepAcross> steps, std::int64_t samples_per_step) {
  EpochFigures e;
  e.epoch = steps.front().front()->epoch;
  e.steps = static_cast<std::int64_t>(steps.size());
  e.samples = e.steps * samples_per_step;
  e.loss = mean_loss(steps);
  e.accuracy = accuracy_of(steps);
  e.learning_rate = steps.back().front()->learning_rate;
  e.seconds = span_ns(steps) * 1e-9;
  e.samples_per_s = static_cast<double>(e.samples) / *e.seconds;
  std::vector<double> times;
  for (const auto& step : steps) times.push_back(static_cast<double>(step_time(step)));
  std::ranges::sort(times);
  e.step_mean_ns = std::accumulate(times.begin(), times.end(), 0.0) / static_cast<double>(times.size());
  e.step_p50_ns = stats::median(times);
  e.step_p95_ns = stats::quantile(times, kP95Ppm);
  return e;
}

std::vector<EpochFigures> epochs_of(std::span<const StepAcross> steps, std::int64_t samples_per_step) {
  std::vector<EpochFigures> epochs;
  for (std::size_t begin = 0, end; begin < steps.size(); begin = end) {
    end = begin;
    while (end < steps.size() && steps[end].front()->epoch == steps[begin].front()->epoch) ++end;
    epochs.push_back(epoch_figures(steps.subspan(begin, end - begin), samples_per_step));
  }
  return epochs;
}

std::int64_t skipped_steps(const std::vector<StepAcross>& steps) {
  return std::count_if(steps.begin(), steps.end(), [](const StepAcross& step) {
    return std::any_of(step.begin(), step.end(), [](const StepRow* row) { return row->skipped; });
  });
}

}  // namespace

void add_held_out(std::vector<EpochFigures>& epochs, const std::vector<HeldOutFigures>& held_out) {
  for (auto& epoch : epochs)
    for (const auto& seen : held_out) {
      if (seen.epoch != epoch.epoch) continue;
      epoch.eval_samples = seen.samples;
      epoch.eval_loss = seen.loss;
      epoch.eval_accuracy = seen.accuracy;
      epoch.eval_seconds = seen.seconds;
    }
}

std::vector<EpochFigures> finished_epochs(const std::vector<RankSteps>& tables,
                                          std::int64_t samples_per_step) {
  auto epochs = epochs_of(aligned(tables), samples_per_step);
  epochs.pop_back();
  add_held_out(epochs, by_rank(tables).front()->held_out);
  return epochs;
}

void fill_course(Training& t, const std::vector<StepAcross>& steps, std::int64_t samples_per_step) {
  const std::span<const StepAcross> all(steps);
  t.epochs = epochs_of(all, samples_per_step);
  t.first_loss = mean_loss(all.first(1));
  t.last_loss = mean_loss(all.last(1));
  t.steps = static_cast<std::int64_t>(steps.size());
  t.skipped_steps = skipped_steps(steps);
  t.total_ns = span_ns(all);
}

}  // namespace paceline::result
