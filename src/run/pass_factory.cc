// SPDX-License-Identifier: MIT
#include "run/pass_factory.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "base/sha256.h"
#include "config/device.h"
#include "config/slo.h"
#include "config/vocabulary.h"
#include "run/train_factory.h"
#include "stats/quantile.h"

namespace paceline::run {
namespace {

using config::Case;
using config::Settings;

std::int64_t to_ns(double seconds) {
  return static_cast<std::int64_t>(seconds * 1e9);
}

std::string optional_text(const Settings& s, std::string_view name) {
  return s.has(name) ? s.text(name) : std::string();
}

stats::WarmupConfig warmup_config(const Settings& s) {
  stats::WarmupConfig w;
  const bool fixed = s.has("warmup_iterations") || s.text("warmup.mode") == "fixed";
  w.mode = fixed ? stats::WarmupMode::kFixed : stats::WarmupMode::kAuto;
  w.fixed_iterations = s.has("warmup_iterations") ? s.integer("warmup_iterations") : 10;
  if (fixed && w.fixed_iterations == 0) w.mode = stats::WarmupMode::kNone;
  w.floor_iterations = s.integer("warmup.min_iterations");
  w.floor_ns = to_ns(s.number("warmup.min_time_s"));
  w.cap_iterations = s.integer("warmup.max_iterations");
  w.cap_ns = to_ns(s.number("warmup.max_time_s"));
  return w;
}

measure::LoopConfig loop_config(const Settings& s) {
  measure::LoopConfig loop;
  loop.warmup = warmup_config(s);
  loop.stop = stop_config(s);
  if (s.has("iterations")) loop.iterations = s.integer("iterations");
  if (s.text("timing_mode") == "sync_latency" || s.text("cache_mode") == "cold") loop.batch = 1;
  return loop;
}

// Instances are on devices of their own where the device is called cuda: a number names one for all of them.
std::int64_t instances_per_device(const Settings& s) {
  if (!s.has("instances") || s.text("device").find(':') != std::string::npos ||
      config::runs_on_cpu(s.text("engine"), s.text("device")))
    return 0;
  return s.has("instances_per_device") ? s.integer("instances_per_device") : 1;
}

workload::LoadSpec load_spec(const Settings& s) {
  workload::LoadSpec load;
  load.scenario = s.text("scenario");
  if (s.has("concurrency")) load.concurrency = s.integer("concurrency");
  if (s.has("instances")) load.instances = s.integer("instances");
  load.instances_per_device = instances_per_device(s);
  if (s.has("arrival_rate_per_s")) load.rate_per_s = s.number("arrival_rate_per_s");
  if (s.has("server.load")) load.share = s.number("server.load");
  load.arrival = s.text("server.arrival");
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

workload::Tolerance tolerance_of(const Settings& s) {
  const auto* model = config::find_model(s.text("model"));
  const auto& row = config::tolerance(*config::find_precision(s.text("precision")),
                                      model ? model->task : config::Task::kTransformer);
  workload::Tolerance t{row.max_rel_err, row.centred_cosine};
  if (s.has("accuracy.max_rel_err")) t.max_rel_err = s.number("accuracy.max_rel_err");
  if (s.has("accuracy.centred_cosine")) t.centred_cosine = s.number("accuracy.centred_cosine");
  return t;
}

std::int64_t check_samples(const Settings& s, std::int64_t batch) {
  const std::int64_t wanted = std::max(s.integer("accuracy.samples"), batch);
  return (wanted + batch - 1) / batch * batch;
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

workload::AccuracyQuestion question_of(const Settings& s) {
  workload::AccuracyQuestion q;
  q.answers = answers_of(s);
  q.trained = s.has("weights") || is_file(s.text("model"));
  q.outputs_decide_too =
      s.has("accuracy.max_rel_err") || s.has("accuracy.centred_cosine") || s.text("precision") == "fp32";
  q.max_changed = s.has("accuracy.max_changed") ? s.number("accuracy.max_changed")
                                                : config::find_precision(s.text("precision"))->max_changed;
  q.claim = s.has("accuracy.max_top1_change") ? s.number("accuracy.max_top1_change") : 0;
  q.inputs = inputs_in_words(s);
  q.samples_asked = s.integer("accuracy.samples");
  q.labels_file = optional_text(s, "labels");
  return q;
}

std::string short_hash(const nlohmann::json& json) {
  return sha256_hex(json.dump()).substr(0, 16);
}

// Options of every engine on a device other than the CPU, where they are not the default.
constexpr std::array kDeviceOptions{std::pair{"io", "device"}, std::pair{"cuda_graph", "false"}};

// The settings that carry the engine's name, without it: openvino.num_streams. On another device than the CPU
// those that carry its kind (cuda.cudnn_benchmark), and which device.
std::map<std::string, std::string> engine_options(const Settings& s, const std::string& engine) {
  std::map<std::string, std::string> options;
  const auto device = *config::canonical_device(s.text("device"));
  if (device != "cpu") options["device"] = device;
  const auto kind = device.substr(0, device.find(':'));
  for (const auto& [name, values] : s.all())
    if (name.starts_with(engine + ".") || name.starts_with(kind + "."))
      options[name.substr(name.find('.') + 1)] = config::value_text(values.front());
  if (config::runs_on_cpu(engine, device)) return options;
  for (const auto& [name, usual] : kDeviceOptions)
    if (const auto value = config::value_text(s.list(name).front()); value != usual) options[name] = value;
  return options;
}

// What tells two training cases apart beside model, precision, layout, batch and ranks.
constexpr std::array kTrainingParams{"ddp.enabled",
                                     "ddp.comm_hook",
                                     "ddp.bucket_cap_mb",
                                     "ddp.gradient_as_bucket_view",
                                     "ddp.static_graph",
                                     "ddp.find_unused_parameters",
                                     "ddp.broadcast_buffers",
                                     "backend",
                                     "training.optimizer",
                                     "training.accumulation_steps",
                                     "training.clip_norm",
                                     "training.dropout",
                                     "training.deterministic",
                                     "data.source",
                                     "data.workers",
                                     "data.synthetic_fresh",
                                     "data.augment",
                                     "checkpoint.every_steps",
                                     "checkpoint.async",
                                     "inject"};

// Those that are not as they are unless written.
void add_training_params(const Case& c, result::Benchmark& benchmark) {
  for (const std::string name : kTrainingParams) {
    if (!c.settings.has(name)) continue;
    const auto value = config::value_text(c.settings.list(name).front());
    if (value != config::find_option(name, config::kTraining)->fallback) benchmark.params[name] = value;
  }
}

}  // namespace

stats::StopConfig stop_config(const Settings& s) {
  stats::StopConfig stop;
  stop.confidence = s.number("confidence");
  stop.n_min = s.integer("stop.n_min");
  stop.n_max = s.integer("stop.n_max");
  stop.t_min_ns = to_ns(s.number("stop.t_min_s"));
  stop.t_max_ns = to_ns(s.number("stop.t_max_s"));
  stop.check_growth = s.number("stop.check_growth");
  stop.quantiles_ppm.clear();
  for (const double p : s.numbers("stop.quantiles"))
    stop.quantiles_ppm.push_back(static_cast<std::uint32_t>(std::llround(p * 1e6)));
  for (auto& row : stop.precisions)
    row.rel_halfwidth = s.number(row.ppm == stats::kPpmP50   ? "stop.rel_halfwidth_p50"
                                 : row.ppm == stats::kPpmP90 ? "stop.rel_halfwidth_p90"
                                                             : "stop.rel_halfwidth_p99");
  return stop;
}

result::CaseResult new_case_result(const Case& c, const std::string& run_id) {
  result::CaseResult r;
  r.case_id = c.id;
  r.label = c.label;
  r.run_id = run_id;
  r.benchmark.id = c.id;
  r.benchmark.kind = std::string(config::kind_name(c.kind));
  const auto text = [&](std::string_view name) { return optional_text(c.settings, name); };
  r.benchmark.model = text("model");
  r.benchmark.engine = text("engine");
  r.benchmark.precision = text("precision");
  if (c.settings.has("cache_mode")) r.benchmark.cache_mode = text("cache_mode");
  if (c.settings.has("scenario")) r.benchmark.scenario = text("scenario");
  if (c.settings.has("layout")) r.benchmark.layout = text("layout");
  if (c.settings.has("batch")) r.benchmark.batch_per_rank = c.settings.integer("batch");
  if (c.settings.has("threads")) r.benchmark.threads = c.settings.integer("threads");
  if (c.settings.has("device") && config::canonical_device(c.settings.text("device")) &&
      c.settings.text("device") != "cpu")
    r.benchmark.params["device"] =
        instances_per_device(c.settings) > 0 ? "cuda" : *config::canonical_device(c.settings.text("device"));
  for (const auto& [name, usual] : kDeviceOptions)
    if (c.settings.has(name) && config::value_text(c.settings.list(name).front()) != usual)
      r.benchmark.params[name] = config::value_text(c.settings.list(name).front());
  if (c.settings.has("sequence_length"))
    r.benchmark.params["sequence_length"] = fmt::format("{}", c.settings.integer("sequence_length"));
  if (c.settings.has("ranks")) r.benchmark.world_size = c.settings.integer("ranks");
  if (c.kind == config::WorkloadKind::kTraining) {
    add_training_params(c, r.benchmark);
    r.flops = training_flops(c);
  }
  for (const char* name :
       {"instances", "instances_per_device", "threads_per_instance", "concurrency", "arrival_rate_per_s",
        "server.load", "server.max_batch", "server.batch_timeout_ms"})
    if (c.settings.has(name)) r.benchmark.params[name] = config::value_text(c.settings.list(name).front());
  for (const auto& [name, value] : c.env) r.benchmark.params["env." + name] = value;
  r.repetitions_planned = repetitions_of(c);
  for (const auto& [name, values] : c.settings.all()) {
    auto& json = r.config_effective[name] = nlohmann::json::array();
    for (const auto& value : values) std::visit([&](const auto& v) { json.push_back(v); }, value);
    if (values.size() == 1) json = nlohmann::json(json[0]);
  }
  return r;
}

workload::PassSpec base_pass(const Case& c, int default_threads) {
  const Settings& s = c.settings;
  workload::PassSpec pass;
  pass.case_id = c.id;
  pass.engine = s.text("engine");
  (is_file(s.text("model")) ? pass.model.file : pass.model.name) = s.text("model");
  pass.model.weights_file = optional_text(s, "weights");
  pass.model.weights_seed = static_cast<std::uint64_t>(s.integer("weights_seed"));
  pass.model.inputs = config::case_inputs(c);
  pass.settings.precision = s.text("precision");
  pass.settings.layout = s.text("layout");
  pass.load = load_spec(s);
  const int share = std::max(1, default_threads / static_cast<int>(pass.load.lanes()));
  pass.settings.threads = s.has("threads_per_instance") ? static_cast<int>(s.integer("threads_per_instance"))
                          : s.integer("threads") > 0    ? static_cast<int>(s.integer("threads"))
                                                        : share;
  pass.settings.options = engine_options(s, pass.engine);
  pass.batch = s.integer("batch");
  pass.samples = check_samples(s, pass.batch * pass.load.max_batch);
  pass.tolerance = tolerance_of(s);
  pass.accuracy = question_of(s);
  pass.reference_name = "none: no engine here makes a reference for this model; only that outputs are finite";
  pass.loop = loop_config(s);
  pass.cache_mode = s.text("cache_mode");
  return pass;
}

workload::PassSpec check_pass(const workload::PassSpec& base) {
  workload::PassSpec pass = base;
  pass.kind = workload::PassKind::kCheck;
  pass.batch *= base.load.max_batch;
  for (auto& input : pass.model.inputs) input.shape.at(0) *= base.load.max_batch;
  return pass;
}

workload::InputRequest input_request(const Case& c, const workload::PassSpec& pass) {
  workload::InputRequest request;
  request.specs = pass.model.inputs;
  for (auto& spec : request.specs) spec.shape.at(0) = pass.samples;
  if (const auto* model = config::find_model(c.settings.text("model")))
    for (const auto& input : model->inputs) request.id_limits.push_back(input.id_limit);
  request.seed = static_cast<std::uint64_t>(c.settings.integer("input_seed"));
  request.load_inputs = c.settings.texts("load_inputs");
  request.image_dir = optional_text(c.settings, "image_dir");
  request.batch = pass.batch;
  return request;
}

std::string input_key(const Case& c, const workload::PassSpec& pass) {
  return request_key(input_request(c, pass));
}

std::string request_key(const workload::InputRequest& request) {
  nlohmann::json key = {request.seed, request.load_inputs, request.image_dir.string(), request.id_limits};
  key.push_back(request.load_inputs.empty() && request.image_dir.empty() ? 0 : request.batch);
  for (const auto& spec : request.specs)
    key.push_back({spec.name, std::string(dtype_name(spec.dtype)), spec.shape});
  return short_hash(key);
}

ReferenceChoice reference_choice(const Case& c) {
  const std::string& named = c.settings.text("accuracy.reference");
  if (named.ends_with(".npy") || named.ends_with(".npz")) return {.file = named};
  if (config::find_file_type(named)) return {.model_file = named};
  return {.engine = named};
}

workload::PassSpec reference_pass(const workload::PassSpec& base, const std::string& engine) {
  workload::PassSpec pass = base;
  pass.kind = workload::PassKind::kReference;
  pass.engine = engine;
  pass.settings.precision = "fp32";
  pass.settings.layout = "contiguous";
  pass.settings.options.clear();
  return pass;
}

std::string reference_name(const workload::PassSpec& pass, const std::string& engine) {
  if (pass.model.file.empty()) return fmt::format("{} fp32, same weights and inputs", engine);
  if (engine == "eager") return "the file's own unoptimised fp32 run";
  const bool itself = pass.engine == engine && pass.settings.precision == "fp32";
  return fmt::format("the file's own fp32 run in {}{}", engine,
                     itself ? ", the engine and precision of the case itself: no independent check" : "");
}

std::string file_reference_engine(const EngineDirectory& engines, const std::string& file) {
  const auto* type = config::find_file_type(file);
  if (!type) return "eager";
  for (const auto reader : type->readers) {
    const auto* engine = config::find_engine(reader);
    const bool takes_precision = engine && !engine->reads.empty();
    if (takes_precision && !engines.find(std::string(reader)).file.empty()) return std::string(reader);
  }
  return "eager";
}

workload::PassSpec file_reference_pass(const workload::PassSpec& base, const std::string& file,
                                       const std::string& engine) {
  workload::PassSpec pass = reference_pass(base, engine);
  pass.model.name.clear();
  pass.model.weights_file.clear();
  pass.model.file = file;
  return pass;
}

std::string reader_of(const EngineDirectory& engines, const std::string& file) {
  const auto* type = config::find_file_type(file);
  if (!type || type->readers.empty()) return {};
  for (const auto reader : type->readers)
    if (!engines.find(std::string(reader)).file.empty()) return std::string(reader);
  return std::string(type->readers.front());
}

std::string reference_key(const workload::PassSpec& reference) {
  return short_hash({reference.engine, reference.model.name, reference.model.file,
                     reference.model.weights_file, reference.model.weights_seed, reference.input_files,
                     reference.batch, reference.samples});
}

workload::Tolerance timed_tolerance(const workload::Tolerance& tolerance,
                                    const result::Correctness& checked) {
  if (checked.judged_by != "answers" || !checked.max_abs_err) return tolerance;
  return {tolerance.max_rel_err, -1, 2 * *checked.max_abs_err};
}

workload::PassSpec profile_pass(const Case& c, const workload::PassSpec& base) {
  auto pass = base;
  pass.kind = workload::PassKind::kProfile;
  pass.profile_inferences = static_cast<int>(c.settings.integer("layer_profile_inferences"));
  return pass;
}

std::int64_t repetitions_of(const Case& c) {
  return c.settings.has("repetitions") ? c.settings.integer("repetitions") : 1;
}

// A server's schedule has a length of its own, and a search for its capacity a number of them.
double timeout_of(const Case& c) {
  constexpr int kRunsOfASearch = 30;
  const double timeout = c.settings.number("timeout_s");
  if (!c.settings.has("scenario") || c.settings.text("scenario") != workload::kServer) return timeout;
  return timeout +
         c.settings.number("server.t_max_s") * (load_spec(c.settings).searches() ? kRunsOfASearch : 1);
}

double items_per_iteration(const Case& c) {
  if (c.kind == config::WorkloadKind::kTraining) return static_cast<double>(samples_per_step(c));
  return static_cast<double>(c.settings.integer("batch"));
}

std::string item_name(const Case& c) {
  const auto* model = config::find_model(c.settings.text("model"));
  return model ? std::string(model->item) : "items";
}

}  // namespace paceline::run
