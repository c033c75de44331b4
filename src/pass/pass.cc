// SPDX-License-Identifier: MIT
#include "pass/pass.h"

#include "pass/train_fields.h"
#include "result/archive.h"

namespace paceline::result {
template <>
struct EnumNames<pass::PassKind> {
  static constexpr auto kValue = [] {
    std::array<std::pair<pass::PassKind, std::string_view>, pass::kPassKinds.size()> names{};
    for (std::size_t i = 0; i < names.size(); ++i)
      names[i] = {pass::kPassKinds[i].kind, pass::kPassKinds[i].name};
    return names;
  }();
};
template <>
struct EnumNames<DType> {
  static constexpr auto kValue = [] {
    std::array<std::pair<DType, std::string_view>, std::size(kDTypes)> names{};
    for (std::size_t i = 0; i < names.size(); ++i) names[i] = {kDTypes[i].dtype, kDTypes[i].name};
    return names;
  }();
};
template <>
struct EnumNames<stats::WarmupMode> {
  static constexpr std::array<std::pair<stats::WarmupMode, std::string_view>, 3> kValue{
      {{stats::WarmupMode::kAuto, "auto"},
       {stats::WarmupMode::kFixed, "fixed"},
       {stats::WarmupMode::kNone, "none"}}};
};
}  // namespace paceline::result

namespace paceline {
template <class A>
void fields(A& a, TensorSpec& t) {
  a("name", t.name), a("dtype", t.dtype), a("shape", t.shape);
}
template <class A>
void fields(A& a, ShapeRange& t) {
  a("input", t.input), a("min", t.min), a("opt", t.opt), a("max", t.max);
}
}  // namespace paceline

namespace paceline::plugin {
template <class A>
void fields(A& a, Rendezvous& t) {
  a("address", t.address), a("port", t.port), a("serve", t.serve), a("listen_fd", t.listen_fd);
  a("prefix", t.prefix), a("timeout_s", t.timeout_s);
}
template <class A>
void fields(A& a, ModelSpec& t) {
  a("name", t.name), a("file", t.file), a("weights_file", t.weights_file), a("weights_seed", t.weights_seed),
      a("inputs", t.inputs), a("any_batch", t.any_batch);
}
template <class A>
void fields(A& a, EngineSettings& t) {
  a("precision", t.precision), a("layout", t.layout), a("threads", t.threads), a("options", t.options);
}
template <class A>
void fields(A& a, ExportSettings& t) {
  a("opset", t.opset), a("dynamic_batch", t.dynamic_batch),
      a("external_data_above_bytes", t.external_data_above_bytes);
}
}  // namespace paceline::plugin

namespace paceline::stats {
template <class A>
void fields(A& a, WarmupConfig& t) {
  a("mode", t.mode), a("fixed_iterations", t.fixed_iterations), a("fixed_ns", t.fixed_ns);
  a("floor_iterations", t.floor_iterations), a("floor_ns", t.floor_ns), a("cap_iterations", t.cap_iterations),
      a("cap_ns", t.cap_ns);
  a("window_ns", t.window_ns), a("window_min", t.window_min), a("window_max", t.window_max);
  a("passes", t.passes), a("tolerance", t.tolerance);
}
template <class A>
void fields(A& a, Precision& t) {
  a("ppm", t.ppm), a("rel_halfwidth", t.rel_halfwidth), a("tau_guard", t.tau_guard);
}
template <class A>
void fields(A& a, StopConfig& t) {
  a("confidence", t.confidence), a("n_min", t.n_min), a("n_max", t.n_max), a("t_min_ns", t.t_min_ns),
      a("t_max_ns", t.t_max_ns);
  a("check_growth", t.check_growth), a("quantiles_ppm", t.quantiles_ppm), a("precisions", t.precisions);
}
}  // namespace paceline::stats

namespace paceline::measure {
template <class A>
void fields(A& a, LoopConfig& t) {
  result::Count iterations(t.iterations, "not_fixed"), batch(t.batch, "chosen_by_duration");
  a("warmup", t.warmup), a("stop", t.stop), a("iterations", iterations), a("batch", batch);
  a("progress_interval_ns", t.progress_interval_ns);
  t.iterations = iterations.value();
  t.batch = batch.value();
}
}  // namespace paceline::measure

namespace paceline::pass {

template <class A>
void fields(A& a, RankSpec& t) {
  a("device", t.device), a("backend", t.backend), a("rendezvous", t.rendezvous);
  a("group_timeout_s", t.group_timeout_s), a("launcher", t.launcher), a("plan_hash", t.plan_hash);
}
template <class A>
void fields(A& a, Tolerance& t) {
  a("max_rel_err", t.max_rel_err), a("centred_cosine", t.centred_cosine), a("max_abs_err", t.max_abs_err);
  a("quantile_err", t.quantile_err), a("max_decides", t.max_decides), a("scale", t.scale);
  a("quantile_written", t.quantile_written);
}
template <class A>
void fields(A& a, PrecisionLimits& t) {
  a("precision", t.precision), a("tolerance", t.tolerance), a("max_changed", t.max_changed);
  a("outputs_decide_too", t.outputs_decide_too);
}
template <class A>
void fields(A& a, AccuracyQuestion& t) {
  a("answers", t.answers), a("answers_because", t.answers_because), a("trained", t.trained),
      a("outputs_decide_too", t.outputs_decide_too);
  a("max_changed", t.max_changed), a("claim", t.claim), a("inputs", t.inputs);
  a("samples_asked", t.samples_asked), a("labels_file", t.labels_file), a("labels", t.labels),
      a("expected_file", t.expected_file);
}
template <class A>
void fields(A& a, ExportTo& t) {
  a("format", t.format), a("file", t.file), a("settings", t.settings);
}
template <class A>
void fields(A& a, LoadSpec& t) {
  a("scenario", t.scenario), a("concurrency", t.concurrency), a("instances", t.instances),
      a("instance", t.instance), a("rate_per_s", t.rate_per_s), a("share", t.share);
  a("instances_per_device", t.instances_per_device);
  a("arrival", t.arrival), a("arrival_seed", t.arrival_seed), a("t_min_s", t.t_min_s),
      a("t_max_s", t.t_max_s);
  a("timeout_s", t.timeout_s), a("max_requests", t.max_requests), a("max_batch", t.max_batch),
      a("batch_timeout_s", t.batch_timeout_s);
  a("slo_p", t.slo_p), a("slo_bound_s", t.slo_bound_s);
}
template <class A>
void fields(A& a, QuantiseTo& t) {
  a("file", t.file), a("precision", t.precision), a("activations", t.activations), a("method", t.method),
      a("percentile", t.percentile), a("exclude", t.exclude), a("reduce_range", t.reduce_range);
  a("cache_file", t.cache_file), a("data", t.data), a("sensitivity_file", t.sensitivity_file);
}
template <class A>
void fields(A& a, BuildTo& t) {
  a("file", t.file), a("log_file", t.log_file), a("profiles", t.profiles);
}
template <class A>
void fields(A& a, ImageFormat& t) {
  a("mean", t.mean), a("scale", t.scale), a("reverse_channels", t.reverse_channels);
}
template <class A>
void fields(A& a, InputRequest& t) {
  std::string image_dir = t.image_dir.string();
  a("specs", t.specs), a("id_limits", t.id_limits), a("seed", t.seed), a("load_inputs", t.load_inputs);
  a("image_dir", image_dir), a("batch", t.batch), a("batch_dimensions", t.batch_dimensions);
  a("image_format", t.image_format);
  t.image_dir = image_dir;
}
template <class A>
void fields(A& a, InputsTo& t) {
  a("request", t.request), a("prefix", t.prefix), a("count_given", t.count_given);
}
template <class A>
void fields(A& a, ExpectedTo& t) {
  a("from", t.from), a("given", t.given), a("file", t.file);
}
template <class A>
void fields(A& a, PassSpec& t) {
  a("kind", t.kind), a("case_id", t.case_id), a("repetition", t.repetition), a("rank", t.rank),
      a("world_size", t.world_size);
  a("plugin_file", t.plugin_file), a("engine", t.engine), a("model", t.model), a("settings", t.settings);
  a("batch_dimensions", t.batch_dimensions), a("input_files", t.input_files), a("batch", t.batch),
      a("samples", t.samples), a("reference_file", t.reference_file);
  a("dump_folder", t.dump_folder);
  a("reference_name", t.reference_name), a("tolerance", t.tolerance),
      a("output_tolerances", t.output_tolerances), a("limits", t.limits), a("accuracy", t.accuracy),
      a("loop", t.loop), a("cache_mode", t.cache_mode), a("feedback", t.feedback), a("load", t.load),
      a("pin_cpus", t.pin_cpus), a("export_to", t.export_to), a("quantise_to", t.quantise_to),
      a("build_to", t.build_to), a("inputs_to", t.inputs_to), a("expected_to", t.expected_to);
  a("profile_inferences", t.profile_inferences), a("sleep_ns", t.sleep_ns), a("ranks", t.ranks);
  a("train", t.train);
}

nlohmann::json to_json(const PassSpec& spec) {
  return result::Writer::write(spec);
}

PassSpec pass_from_json(const nlohmann::json& json) {
  PassSpec spec;
  result::Reader::read(json, "", spec);
  return spec;
}

}  // namespace paceline::pass
