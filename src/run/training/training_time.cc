// SPDX-License-Identifier: MIT
#include "run/training/training_time.h"

#include "base/picture_files.h"
#include "pass/train_spec.h"

namespace paceline::run {
namespace {

// The backward pass is twice the work of the forward pass; ranks share the assumed speed.
double step_seconds(const config::Case& c, const Pace& pace) {
  if (const auto stored = stored_iteration_s(pace)) return *stored;
  return 3 * forward_seconds(c, pace.end) *
         static_cast<double>(c.settings.integer("training.accumulation_steps") * c.settings.integer("ranks"));
}

// 0: only reading the data tells.
double samples_of_epoch(const config::Settings& s) {
  constexpr double kCifarSamples = 50'000;
  const auto& source = s.text("data.source");
  if (source == "synthetic") return s.number("data.synthetic_samples");
  if (source == "image_folder" && s.has("data.path"))
    return static_cast<double>(count_pictures_of_classes(picture_folders(s.text("data.path")).training));
  return source == "cifar10" || source == "cifar100" ? kCifarSamples : 0;
}

double epochs_seconds(const config::Case& c, double step) {
  const auto& s = c.settings;
  if (!s.has("training.epochs")) return 0;
  const double samples = samples_of_epoch(s) * s.number("training.epochs");
  const auto of_step = s.integer("batch") * s.integer("ranks") * s.integer("training.accumulation_steps");
  return samples / static_cast<double>(of_step) * step;
}

// Untimed steps, and those under the profiler, which slows them down.
double training_profile_seconds(const config::Case& c, const Pace& pace) {
  if (!c.settings.flag("profiling.enabled")) return 0;
  return worker_start_s(pace) +
         static_cast<double>(pass::ProfileSpec{}.untimed_steps + 2 * c.settings.integer("profiling.steps")) *
             step_seconds(c, pace);
}

double training_pass_seconds(const config::Case& c, const Pace& pace) {
  const auto& s = c.settings;
  const double step = step_seconds(c, pace);
  const double measured = s.has("benchmark.measure_steps")
                              ? static_cast<double>(s.integer("benchmark.measure_steps")) * step
                          : s.has("benchmark.measure_seconds") ? s.number("benchmark.measure_seconds")
                                                               : seconds_by_the_rule(s, step, pace.times);
  const double steps = static_cast<double>(s.integer("benchmark.warmup_steps")) * step + measured;
  const double epochs = epochs_seconds(c, step);
  return worker_start_s(pace) + (epochs > 0 ? epochs : steps);  // steps end with the last epoch
}

}  // namespace

double training_seconds(const config::Case& c, const Pace& pace) {
  return seconds_beside(pace.end) + c.settings.number("repetitions") * training_pass_seconds(c, pace) +
         training_profile_seconds(c, pace);
}

}  // namespace paceline::run
