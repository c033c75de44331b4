// SPDX-License-Identifier: MIT
#include "run/training/train_factory.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "base/device.h"
#include "config/idle_options.h"
#include "config/training/training_rules.h"
#include "config/vocabulary.h"
#include "host/system_files.h"
#include "run/case/case_settings.h"
#include "run/ranks/rank_settings.h"

namespace paceline::run {
namespace {

using config::Case;
using config::Settings;

std::uint64_t seed_of(const Settings& s) {
  return static_cast<std::uint64_t>(s.integer("training.seed"));
}

bool is_sgd(const Case& c) {
  return config::optimizer_of(c) == "sgd";
}

// As PyTorch's optimizers have it, and for sgd the ResNet paper.
double usual_weight_decay(std::string_view optimizer) {
  return optimizer == "sgd" ? 1e-4 : optimizer == "adamw" ? 1e-2 : 0;
}

plugin::OptimizerSettings optimizer_settings(const Case& c) {
  const Settings& s = c.settings;
  plugin::OptimizerSettings o;
  o.name = config::optimizer_of(c);
  o.momentum = s.number("training.momentum");
  o.nesterov = s.flag("training.nesterov");
  const auto betas = s.numbers("training.betas");
  o.beta1 = betas.at(0);
  o.beta2 = betas.at(1);
  o.eps = s.number("training.eps");
  o.weight_decay =
      s.has("training.weight_decay") ? s.number("training.weight_decay") : usual_weight_decay(o.name);
  return o;
}

plugin::DdpSettings ddp_settings(const Case& c) {
  const Settings& s = c.settings;
  plugin::DdpSettings d;
  d.enabled = config::runs_ddp(c);
  d.bucket_cap_mb = s.number("ddp.bucket_cap_mb");
  d.gradient_as_bucket_view = s.flag("ddp.gradient_as_bucket_view");
  d.static_graph = s.flag("ddp.static_graph");
  d.find_unused_parameters = s.flag("ddp.find_unused_parameters");
  d.broadcast_buffers = s.flag("ddp.broadcast_buffers");
  d.comm_hook = s.text("ddp.comm_hook");
  return d;
}

plugin::TrainSettings train_settings(const Case& c, const TrainPlace& place) {
  const Settings& s = c.settings;
  plugin::TrainSettings t;
  t.precision = s.text("precision");
  t.layout = s.text("layout");
  t.threads = s.integer("threads") > 0 ? static_cast<int>(s.integer("threads")) : place.threads;
  t.seed = seed_of(s);
  t.dropout = s.flag("training.dropout");
  t.deterministic = s.flag("training.deterministic");
  t.clip_norm = s.has("training.clip_norm") ? s.number("training.clip_norm") : 0;
  t.accumulation_steps = static_cast<int>(s.integer("training.accumulation_steps"));
  t.optimizer = optimizer_settings(c);
  t.ddp = ddp_settings(c);
  if (s.has("training.num_classes"))
    t.options["classes"] = fmt::format("{}", s.integer("training.num_classes"));
  if (is_cpu(rank_device(c, place.device))) return t;
  for (const char* name : {"training.cudnn_benchmark", "benchmark.sync_cuda"})
    t.options[std::string(name).substr(std::string_view(name).find('.') + 1)] =
        s.flag(name) ? "true" : "false";
  return t;
}

pass::DataSpec data_spec(const Settings& s) {
  pass::DataSpec d;
  d.source = s.text("data.source");
  d.path = optional_text(s, "data.path");
  d.workers = s.integer("data.workers");
  d.prefetch = s.integer("data.prefetch");
  d.synthetic_samples = s.integer("data.synthetic_samples");
  d.synthetic_fresh = s.flag("data.synthetic_fresh");
  d.augment = s.flag("data.augment");
  d.shuffle = s.flag("data.shuffle");
  d.seed = seed_of(s);
  return d;
}

pass::ScheduleSpec schedule_spec(const Case& c) {
  const Settings& s = c.settings;
  const auto count = [&](std::string_view name) { return s.has(name) ? s.integer(name) : 0; };
  pass::ScheduleSpec schedule;
  schedule.name = s.text("training.schedule");
  schedule.base = s.has("training.lr") ? s.number("training.lr") : is_sgd(c) ? 0.1 : 1e-3;
  schedule.warmup_steps = s.integer("training.lr_warmup_steps");
  schedule.total_steps = count("training.lr_total_steps");
  schedule.last = s.number("training.lr_final");
  schedule.step_every = count("training.lr_step_size");
  schedule.gamma = s.number("training.lr_gamma");
  const bool counted = schedule.name == "step" ? schedule.step_every > 0 : schedule.total_steps > 0;
  if (schedule.name != "constant" && !counted) schedule.epochs = count("training.epochs");
  return schedule;
}

pass::CheckpointSpec checkpoint_spec(const Settings& s) {
  pass::CheckpointSpec c;
  c.dir = optional_text(s, "checkpoint.dir");
  c.every_steps = s.integer("checkpoint.every_steps");
  c.keep = s.integer("checkpoint.keep");
  c.asynchronous = s.flag("checkpoint.async");
  c.resume = s.flag("checkpoint.resume");
  c.timeout_s = s.number("checkpoint.timeout_s");
  return c;
}

// A fixed warm-up; then steps, seconds, or the stop rule.
measure::LoopConfig step_loop_config(const Settings& s) {
  measure::LoopConfig loop;
  loop.warmup.fixed_iterations = s.integer("benchmark.warmup_steps");
  loop.warmup.mode = loop.warmup.fixed_iterations > 0 ? stats::WarmupMode::kFixed : stats::WarmupMode::kNone;
  loop.stop = stop_config(s);
  loop.batch = 1;
  if (s.has("benchmark.measure_steps")) loop.iterations = s.integer("benchmark.measure_steps");
  if (!s.has("benchmark.measure_seconds")) return loop;
  loop.stop.n_min = 1;
  loop.stop.quantiles_ppm.clear();  // no precision is asked for
  loop.stop.t_min_ns = loop.stop.t_max_ns =
      static_cast<std::int64_t>(s.number("benchmark.measure_seconds") * 1e9);
  return loop;
}

pass::TrainSpec train_spec(const Case& c, const TrainPlace& place) {
  const Settings& s = c.settings;
  pass::TrainSpec t;
  t.settings = train_settings(c, place);
  t.data = data_spec(s);
  t.schedule = schedule_spec(c);
  t.checkpoint = checkpoint_spec(s);
  if (!t.checkpoint.dir.empty() && !place.alone) t.checkpoint.dir += "/" + c.id;
  t.epochs = s.has("training.epochs") ? s.integer("training.epochs") : 0;
  t.eval_every_epochs = s.integer("eval.every_epochs");
  t.drift_check_every = s.integer("training.drift_check_every");
  t.inject = optional_text(s, "inject");
  return t;
}

}  // namespace

pass::PassSpec train_pass(const Case& c, const TrainPlace& place) {
  const Settings& s = c.settings;
  pass::PassSpec pass;
  pass.kind = pass::PassKind::kTrain;
  pass.case_id = c.id;
  pass.world_size = s.integer("ranks");
  pass.model.name = s.text("model");
  pass.model.weights_file = optional_text(s, "weights");
  pass.model.weights_seed = seed_of(s);
  pass.model.inputs = config::case_inputs(c);
  pass.batch = s.integer("batch");
  pass.ranks = rank_spec(c, rank_device(c, place.device));
  const auto& train = pass.task.emplace<pass::TrainSpec>(train_spec(c, place));
  pass.settings.precision = train.settings.precision;
  pass.settings.layout = train.settings.layout;
  pass.settings.threads = train.settings.threads;
  pass.loop = step_loop_config(s);
  return pass;
}

std::int64_t samples_per_step(const Case& c) {
  const Settings& s = c.settings;
  return s.integer("batch") * s.integer("training.accumulation_steps") * s.integer("ranks");
}

namespace {
// Work of training beyond the model: BERT's head for masked tokens, a dense layer and the decoder at every
// position.
double head_macs(const config::Model& model, std::int64_t length) {
  const auto vocabulary = static_cast<double>(model.inputs.front().id_limit);
  return model.name == "bert-large" ? static_cast<double>(length) * 1024 * (1024 + vocabulary) : 0;
}
}  // namespace

result::Flops training_flops(const Case& c) {
  result::Flops flops;
  flops.peak_measured_flops_per_s = Number::missing("the peak of training is measured on GPUs only");
  const auto* model = config::find_model(c.settings.text("model"));
  if (!model) return flops;
  const auto length = c.settings.has("sequence_length") ? c.settings.integer("sequence_length") : 0;
  flops.model_flops_per_item =
      3 * 2.0 * (static_cast<double>(model->forward_macs(length)) + head_macs(*model, length));
  flops.convolution_share = model->convolution_share(length);
  flops.convention = "3 x forward: 2 x MAC of convolutions and matrix products, the backward pass twice that";
  return flops;
}

std::vector<std::string> training_notes(const Case& c, const std::string& device) {
  std::vector<std::string> notes;
  if (const auto idle = config::without_effect(c, device); !idle.empty())
    notes.push_back("no effect here: " + idle);
  if (is_cpu(device) && c.settings.integer("ranks") > 1)
    notes.emplace_back(
        "ranks are CPU processes over gloo: their throughput and its scaling do not speak for GPUs");
  return notes;
}

std::string crowding_note(const result::Training& training) {
  std::int64_t threads = 0, ranks = 0;
  std::set<int> cores;
  for (const auto& rank : training.ranks) {
    if (rank.host != training.ranks.front().host) continue;
    threads += rank.threads, ++ranks;
    for (const int cpu : host::parse_cpu_list(rank.cpus)) cores.insert(cpu);
  }
  if (cores.empty() || threads <= static_cast<std::int64_t>(cores.size())) return {};
  return fmt::format("{} ranks with {} threads share {} cores of one host: they take turns", ranks, threads,
                     cores.size());
}

}  // namespace paceline::run
