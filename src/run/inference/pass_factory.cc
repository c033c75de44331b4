// SPDX-License-Identifier: MIT
#include "run/inference/pass_factory.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <map>

#include "config/device.h"
#include "config/inference/arrivals.h"
#include "config/inference/folder_weights.h"
#include "config/inference/slo.h"
#include "config/precision_table.h"
#include "config/value.h"
#include "config/vocabulary.h"
#include "pass/derived_spec.h"
#include "pass/input_layout.h"
#include "run/case/case_settings.h"
#include "run/inference/reference_factory.h"
#include "stats/quantile.h"

namespace paceline::run {
namespace {

using config::Case;
using config::Settings;

stats::WarmupConfig warmup_config(const Settings& s) {
  stats::WarmupConfig w;
  const bool fixed = s.has("warmup_iterations") || s.text("warmup.mode") == "fixed";
  w.mode = fixed ? stats::WarmupMode::kFixed : stats::WarmupMode::kAuto;
  w.fixed_iterations = s.has("warmup_iterations") ? s.integer("warmup_iterations") : 10;
  if (fixed && w.fixed_iterations == 0) w.mode = stats::WarmupMode::kNone;
  w.floor_iterations = s.integer("warmup.min_iterations");
  w.floor_ns = to_ns(warmup_floor_s(s));
  w.cap_iterations = s.integer("warmup.max_iterations");
  w.cap_ns = to_ns(s.number("warmup.max_time_s"));
  if (gap_s(s) > 0) w.window_max = w.window_min;  // a window lasts as long as its sleeps
  return w;
}

measure::LoopConfig loop_config(const Settings& s) {
  measure::LoopConfig loop;
  loop.warmup = warmup_config(s);
  loop.stop = stop_config(s);
  if (s.has("iterations")) loop.iterations = s.integer("iterations");
  if (s.text("timing_mode") == "sync_latency" || s.text("cache_mode") == "cold" || s.has("feedback") ||
      s.has("gap"))
    loop.batch = 1;
  loop.pipelined = s.text("timing") == "pipelined";
  if (loop.pipelined) {
    loop.batch.reset();                          // blocks have a size of their own
    loop.stop.quantiles_ppm = {stats::kPpmP50};  // and no tails
  }
  return loop;
}

pass::LoadSpec load_spec(const Settings& s) {
  pass::LoadSpec load;
  load.scenario = config::scenario_of(s);
  if (s.has("concurrency")) load.concurrency = s.integer("concurrency");
  load.instances = std::max<std::int64_t>(1, instances_of(s));
  load.instances_per_device = instances_per_device(s);
  load.devices = device_numbers(s);
  if (s.has("arrival_rate_per_s")) load.rate_per_s = s.number("arrival_rate_per_s");
  if (s.has("server.load")) load.share = s.number("server.load");
  if (const auto file = config::schedule_file(s); file.empty())
    load.arrival = s.text("server.arrival");
  else
    load.schedule_file = std::filesystem::absolute(file).string();
  load.arrival_seed = static_cast<std::uint64_t>(s.integer("server.seed"));
  load.t_min_s = s.number("server.t_min_s");
  load.t_max_s = s.number("server.t_max_s");
  if (s.has("server.timeout_s")) load.timeout_s = s.number("server.timeout_s");
  load.max_requests = s.integer("server.max_requests");
  if (s.has("server.max_batch")) load.max_batch = s.integer("server.max_batch");
  if (s.has("server.batch_timeout_ms")) load.batch_timeout_s = s.number("server.batch_timeout_ms") * 1e-3;
  if (!s.has("slo")) return load;
  const auto slo = config::parse_slo(s.text("slo"));
  load.slo_p = slo.p;
  load.slo_bound_s = slo.bound_s;
  return load;
}

pass::Tolerance tolerance_of(const Settings& s, const config::Precision& precision) {
  const auto* model = config::find_model(s.text("model"));
  const auto& row = config::tolerance(precision, model ? model->task : config::Task::kTransformer);
  pass::Tolerance t{row.max_rel_err, row.centred_cosine};
  t.quantile_err = precision.quantile_err;
  if (s.has("accuracy.max_rel_err")) t.max_rel_err = s.number("accuracy.max_rel_err");
  if (s.has("accuracy.centred_cosine")) t.centred_cosine = s.number("accuracy.centred_cosine");
  if (s.has("accuracy.quantile_err")) t.quantile_err = s.number("accuracy.quantile_err");
  t.quantile_written = s.has("accuracy.quantile_err");
  t.max_decides = s.has("accuracy.max_rel_err") || precision.name == "fp32";
  const bool written =
      s.has("accuracy.max_rel_err") || s.has("accuracy.centred_cosine") || t.quantile_written;
  t.ulps = written ? 0 : precision.ulps;
  t.rounds = precision.name != "fp32" && precision.name != config::kPrecisionOfFile;
  return t;
}

// Limits of a case in a precision.
pass::PrecisionLimits limits_of(const Settings& s, const config::Precision& precision) {
  const bool written = s.has("accuracy.max_rel_err") || s.has("accuracy.centred_cosine");
  const bool int8 = precision.name == "int8", changed = s.has("accuracy.max_changed");
  return {std::string(precision.name),
          tolerance_of(s, precision),
          changed ? s.number("accuracy.max_changed") : precision.max_changed,
          written || precision.name == "fp32",
          int8 && !changed,
          int8 && !changed && !written && !s.has("accuracy.quantile_err")};
}

// Limits for every precision that a file can have, if precision: file is asked for.
std::vector<pass::PrecisionLimits> limits_by_precision(const Settings& s) {
  std::vector<pass::PrecisionLimits> rows;
  if (optional_text(s, "precision") != config::kPrecisionOfFile) return rows;
  for (const auto& precision : config::precisions())
    if (precision.name != config::kPrecisionOfFile) rows.push_back(limits_of(s, precision));
  return rows;
}

// Inputs of a second batch are made only where both together stay below this.
constexpr double kTwoBatchesBytes = 1024.0 * 1024 * 1024;

double bytes_of_batch(const std::vector<TensorSpec>& inputs) {
  double bytes = 0;
  for (const auto& input : inputs)
    bytes +=
        static_cast<double>(element_count(input.shape)) * static_cast<double>(dtype_size_bytes(input.dtype));
  return bytes;
}

// The check after the timed loop asks for inputs that were not timed. A server's requests bring them, and a
// file of expected outputs has as many as its owner thought of.
bool wants_second_batch(const Case& c, const pass::PassSpec& pass) {
  return !c.settings.has("accuracy.samples") && !traits_of(pass.inference.load.scenario).has_queue &&
         reference_choice(c).file.empty() && 2 * bytes_of_batch(pass.model.inputs) <= kTwoBatchesBytes;
}

std::int64_t check_samples(const Case& c, const pass::PassSpec& pass) {
  const std::int64_t batch = pass.batch * pass.inference.load.max_batch;
  const std::int64_t least = wants_second_batch(c, pass) ? 2 * batch : batch;
  const std::int64_t wanted = std::max(asked_samples(c.settings), least);
  return (wanted + batch - 1) / batch * batch;
}

// Where nobody said how many inputs are compared, and nobody brought them, a slow model may be checked with
// fewer. The check after the timed loop still finds inputs that were not timed.
constexpr std::int64_t kLeastSamples = 8;
std::int64_t least_samples(const Case& c, const pass::PassSpec& pass) {
  const auto& question = pass.inference.accuracy;
  const bool free = question.generated && question.labels_file.empty() && reference_choice(c).file.empty() &&
                    !c.settings.has("accuracy.samples");
  if (!free) return 0;
  const std::int64_t batch = pass.batch * pass.inference.load.max_batch;
  const std::int64_t batches = std::max((kLeastSamples + batch - 1) / batch,
                                        wants_second_batch(c, pass) ? std::int64_t{2} : std::int64_t{1});
  return std::min(batches * batch, pass.inference.samples);
}

std::string answers_of(const Settings& s) {
  const auto* model = config::find_model(s.text("model"));
  const std::string& asked = s.text("accuracy.answers");
  return asked == "auto" && model ? std::string(model->answers) : asked;
}

std::string inputs_in_words(const Settings& s) {
  if (const auto files = s.texts("load_inputs"); !files.empty())
    return fmt::format("load_inputs {}", fmt::join(files, ", "));
  if (s.has("image_dir")) return fmt::format("image_dir {}", s.text("image_dir"));
  return fmt::format("random, seed {}", s.integer("input_seed"));
}

// Neither built in nor a file: a name that only the engine's plug-in knows.
bool is_file(const std::string& model) {
  return !config::find_model(model) && (config::find_file_type(model) || std::filesystem::exists(model));
}

pass::AccuracyQuestion question_of(const Settings& s) {
  pass::AccuracyQuestion q;
  q.answers = answers_of(s);
  q.answers_because =
      s.text("accuracy.answers") == "auto" ? "the built-in model has it" : "accuracy.answers says so";
  q.trained = !config::weights_of(s).empty() || is_file(s.text("model"));
  q.claim = s.has("accuracy.max_top1_change") ? s.number("accuracy.max_top1_change") : 0;
  q.inputs = inputs_in_words(s);
  q.generated = s.texts("load_inputs").empty() && !s.has("image_dir");
  q.samples_asked = asked_samples(s);
  q.labels_file = optional_text(s, "labels");
  return q;
}

// The settings that carry the engine's name, without it: openvino.num_streams. On another device than the CPU
// those that carry its kind (cuda.cudnn_benchmark), and which device.
std::map<std::string, std::string> engine_options(const Settings& s, const std::string& engine) {
  std::map<std::string, std::string> options;
  const auto device = device_of(s);
  if (device.kind != DeviceKind::kCpu) options["device"] = device_name(device);
  const std::string kind(kind_name(device.kind));
  for (const auto& [name, values] : s.all())
    if (name.starts_with(engine + ".") || name.starts_with(kind + "."))
      options[name.substr(name.find('.') + 1)] = config::value_text(values.front());
  if (config::runs_on_cpu(engine, device)) return options;
  for (const auto* option : config::options_of(config::kInference)) {
    const std::string name(config::singular(*option));
    if (option->gpu_only && name.find('.') == std::string::npos && !config::is_default(*option, s.list(name)))
      options[name] = config::value_text(s.list(name).front());
  }
  return options;
}

// The largest error that the check would have accepted, in the outputs' own unit: the scale is that of all
// inputs of the check, not of one batch.
double accepted_error(const pass::Tolerance& tolerance, const result::OutputAgreement& checked) {
  if (checked.judged_by == "ulps")
    return checked.limit_ulps.value().value_or(0) * checked.ulp_change.value().value_or(0);
  const double relative = checked.max_rel_err.value().value_or(0);
  if (checked.judged_by != "max_error" || relative <= 0) return 0;
  return tolerance.max_rel_err * *checked.max_abs_err / relative;
}

// Most inferences of warm-up: its cap is looked at after each window.
double most_warmup(const Settings& s, double gap) {
  const auto warmup = warmup_config(s);
  if (warmup.mode != stats::WarmupMode::kAuto) return static_cast<double>(warmup.fixed_iterations);
  const auto within_cap = std::ceil(s.number("warmup.max_time_s") / gap);
  const auto floor =
      std::max(static_cast<double>(warmup.floor_iterations), std::ceil(warmup_floor_s(s) / gap));
  const auto cap = std::max(static_cast<double>(warmup.cap_iterations), floor);
  return std::min(within_cap, cap) + static_cast<double>(warmup.window_min);
}

// Most inferences that are timed: the time limit is looked at after stop.n_min, and again where it comes.
double most_timed(const Settings& s, double gap) {
  if (s.has("iterations")) return static_cast<double>(s.integer("iterations"));
  const auto stop = stop_config(s);
  const auto within_limit = std::ceil(s.number("stop.t_max_s") / gap) + 1;
  return std::min(std::max(static_cast<double>(stop.n_min), within_limit), static_cast<double>(stop.n_max));
}

// Longest time that a process sleeps between inferences.
double sleeping_s(const Settings& s) {
  const double gap = gap_s(s);
  return gap > 0 ? gap * (most_warmup(s, gap) + most_timed(s, gap)) : 0;
}

// Loads the model so that it takes the new shapes; only a batch in dimension 0 leaves the rest as it is.
void open_sizes(const Case& c, pass::PassSpec& pass) {
  auto& inference = pass.inference;
  const auto& inputs = pass.model.inputs;
  for (auto& one : config::case_new_shapes(c)) {
    for (std::size_t i = 0; i < inputs.size(); ++i)
      if (!std::equal(inputs[i].shape.begin() + (inputs[i].shape.empty() ? 0 : 1), inputs[i].shape.end(),
                      one.sizes[i].begin() + (inputs[i].shape.empty() ? 0 : 1)))
        pass.model.any_shape = true;
    inference.new_shapes.push_back({std::move(one.name), std::move(one.sizes)});
  }
  pass.model.any_batch = !inference.new_shapes.empty();
}

}  // namespace

pass::PassSpec base_pass(const Case& c, int default_threads) {
  const Settings& s = c.settings;
  pass::PassSpec pass;
  pass::InferenceSpec& inference = pass.inference;
  pass.case_id = c.id;
  pass.use(plugin::Role::kEngine, s.text("engine"));
  for (const auto& file : s.texts("load_libraries"))
    pass.load_libraries.push_back(std::filesystem::absolute(file).string());
  (is_file(s.text("model")) ? pass.model.file : pass.model.name) = s.text("model");
  pass.model.weights_file = config::weights_of(s);
  pass.model.weights_seed = static_cast<std::uint64_t>(s.integer("weights_seed"));
  pass.model.inputs = config::case_inputs(c);
  inference.batch_dimensions = config::case_batch_dimensions(c);
  pass.settings.precision = asked_precision(s);
  pass.settings.precision_of_file = optional_text(s, "precision") == config::kPrecisionOfFile;
  pass.settings.layout = s.text("layout");
  inference.load = load_spec(s);
  const int share = std::max(1, default_threads / static_cast<int>(inference.load.lanes()));
  pass.settings.threads = s.has("threads_per_instance") ? static_cast<int>(s.integer("threads_per_instance"))
                          : s.integer("threads") > 0    ? static_cast<int>(s.integer("threads"))
                                                        : share;
  pass.settings.options = engine_options(s, pass.engine());
  pass.batch = s.integer("batch");
  inference.samples = check_samples(c, pass);
  inference.accuracy = question_of(s);
  inference.accuracy.least_samples = least_samples(c, pass);
  inference.limits = {limits_of(s, *config::find_precision(asked_precision(s)))};
  pass::use_limits(inference, asked_precision(s));
  inference.limits = limits_by_precision(s);
  inference.accuracy.unchecked_because =
      "no engine here makes a reference for this model; only that outputs are finite";
  pass.loop = loop_config(s);
  inference.cache_mode = s.text("cache_mode");
  if (s.has("gap")) inference.gap_ns = to_ns(gap_s(s));
  open_sizes(c, pass);
  inference.feedback = s.texts("feedback");
  return pass;
}

int all_threads(const pass::PassSpec& base) {
  return base.settings.threads * static_cast<int>(base.inference.load.lanes());
}

pass::PassSpec check_pass(const pass::PassSpec& base) {
  pass::PassSpec pass = base;
  pass.kind = pass::PassKind::kCheck;
  pass.batch *= base.inference.load.max_batch;
  pass::multiply_batch(pass.model.inputs, pass.inference.batch_dimensions, base.inference.load.max_batch);
  return pass;
}

pass::Tolerance timed_tolerance(const pass::Tolerance& tolerance, const result::OutputAgreement& checked) {
  pass::Tolerance timed = tolerance;
  timed.max_decides = checked.judged_by != "quantile_error";
  timed.ulps = 0;
  if (!checked.max_abs_err) return timed;
  timed.centred_cosine = -1;
  timed.max_abs_err = std::max(2 * *checked.max_abs_err, accepted_error(tolerance, checked));
  if (checked.judged_by == "max_error" || checked.judged_by == "ulps") timed.max_rel_err = 0;
  if (checked.judged_by == "equal_values" || checked.judged_by == "engine") timed.max_rel_err = 0;
  if (timed.max_decides) return timed;
  timed.scale = checked.scale.value().value_or(0);
  timed.quantile_err = std::max(timed.quantile_err, 2 * checked.quantile_err_worst.value().value_or(0));
  return timed;
}

std::vector<pass::Tolerance> timed_tolerances(const pass::Tolerance& tolerance,
                                              const result::Correctness& checked) {
  std::vector<pass::Tolerance> limits;
  for (const auto& output : checked.outputs) limits.push_back(timed_tolerance(tolerance, output));
  if (limits.empty()) limits.push_back(timed_tolerance(tolerance, {}));  // outputs were not checked
  return limits;
}

pass::PassSpec profile_pass(const Case& c, const pass::PassSpec& base) {
  auto pass = base;
  pass.kind = pass::PassKind::kProfile;
  pass.task = pass::ProfileLayers{static_cast<int>(c.settings.integer("layer_profile_inferences"))};
  return pass;
}

// A server's schedule has a length of its own, and a search for its capacity a number of them.
double timeout_of(const Case& c) {
  constexpr int kRunsOfASearch = 30;
  const double timeout = c.settings.number("timeout_s") + sleeping_s(c.settings);
  if (!traits_of(config::scenario_of(c.settings)).open_loop) return timeout;
  return timeout +
         c.settings.number("server.t_max_s") * (load_spec(c.settings).searches() ? kRunsOfASearch : 1);
}

}  // namespace paceline::run
