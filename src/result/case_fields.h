// SPDX-License-Identifier: MIT
#pragma once
#include "result/archive.h"
#include "result/case_result.h"
#include "result/run_result.h"

// The one list of every field of the result files (names as in JSON).
namespace paceline::result {

template <>
struct EnumNames<Outcome> {
  static constexpr std::array<std::pair<Outcome, std::string_view>, 3> kValue{
      {{Outcome::kOk, "ok"}, {Outcome::kSkipped, "skipped"}, {Outcome::kFailed, "failed"}}};
};
template <>
struct EnumNames<Grade> {
  static constexpr std::array<std::pair<Grade, std::string_view>, 3> kValue{
      {{Grade::kA, "A"}, {Grade::kB, "B"}, {Grade::kC, "C"}}};
  static constexpr Grade kNull = Grade::kNone;
  static constexpr std::string_view kNullReason = "only a measured case has a grade";
};

template <class A>
void fields(A& a, Benchmark& t) {
  a("id", t.id), a("kind", t.kind), a("scenario", t.scenario), a("timing_mode", t.timing_mode),
      a("cache_mode", t.cache_mode);
  a("model", t.model), a("engine", t.engine), a("precision", t.precision), a("layout", t.layout);
  a("batch_per_rank", t.batch_per_rank), a("world_size", t.world_size), a("threads", t.threads),
      a("params", t.params);
}
template <class A>
void fields(A& a, Estimate& t) {
  a("value", t.value), a("ci_low", t.ci_low), a("ci_high", t.ci_high);
  a("confidence", t.confidence), a("ci_method", t.ci_method);
}
template <class A>
void fields(A& a, LabelledAccuracy& t) {
  a("labels", t.labels), a("reference_top1", t.reference_top1), a("top1", t.top1), a("change", t.change);
  a("lost", t.lost), a("gained", t.gained);
}
template <class A>
void fields(A& a, AccuracyClaim& t) {
  a("limit", t.limit), a("basis", t.basis), a("verdict", t.verdict), a("bound", t.bound);
  a("inputs_needed", t.inputs_needed), a("detail", t.detail);
}
template <class A>
void fields(A& a, OutputAgreement& t) {
  a("name", t.name), a("kind", t.kind), a("because", t.because), a("judged_by", t.judged_by);
  a("passed", t.passed), a("max_rel_err", t.max_rel_err), a("max_abs_err", t.max_abs_err);
  a("centred_cosine", t.centred_cosine), a("cosine", t.cosine), a("scale", t.scale);
  a("quantile_err", t.quantile_err), a("quantile_err_worst", t.quantile_err_worst);
  a("equal_share", t.equal_share), a("detail", t.detail);
}
template <class A>
void fields(A& a, Correctness& t) {
  a("checked", t.checked), a("passed", t.passed), a("reference", t.reference), a("samples", t.samples);
  a("max_rel_err", t.max_rel_err), a("centred_cosine", t.centred_cosine),
      a("top1_agreement", t.top1_agreement);
  a("max_rel_err_tolerance", t.max_rel_err_tolerance),
      a("centred_cosine_tolerance", t.centred_cosine_tolerance);
  a("detail", t.detail), a("inputs", t.inputs), a("samples_asked", t.samples_asked);
  a("judged_by", t.judged_by), a("judged_because", t.judged_because);
  a("max_abs_err", t.max_abs_err), a("cosine", t.cosine), a("kl_nats", t.kl_nats);
  a("answers", t.answers), a("top1", t.top1), a("top5", t.top5), a("next_token", t.next_token);
  a("reference_answers", t.reference_answers), a("max_changed_tolerance", t.max_changed_tolerance);
  a("labelled", t.labelled), a("claim", t.claim);
  a("outputs", t.outputs), a("worst_output", t.worst_output),
      a("quantile_err_tolerance", t.quantile_err_tolerance);
}
template <class A>
void fields(A& a, ExecutedPrecision& t) {
  a("precision", t.precision), a("flops_share", t.flops_share), a("operators", t.operators);
}
template <class A>
void fields(A& a, PrecisionReadBack& t) {
  a("asked", t.asked), a("executed", t.executed), a("source", t.source);
}
template <class A>
void fields(A& a, Quantile& t) {
  a("p", t.p), a("value_ns", t.value_ns), a("ci_low_ns", t.ci_low_ns), a("ci_high_ns", t.ci_high_ns);
  a("confidence", t.confidence), a("ci_method", t.ci_method), a("actual_coverage", t.actual_coverage),
      a("n_eff", t.n_eff);
}
template <class A>
void fields(A& a, Stats& t) {
  a("clock", t.clock), a("n", t.n), a("tau_x", t.tau_x), a("min_ns", t.min_ns), a("max_ns", t.max_ns);
  a("median_ns", t.median_ns), a("mean_ns", t.mean_ns), a("stddev_ns", t.stddev_ns), a("mad_ns", t.mad_ns),
      a("quantile_method", t.quantile_method);
  a("quantiles", t.quantiles), a("highest_claimable_p", t.highest_claimable_p);
}
template <class A>
void fields(A& a, Headline& t) {
  a("scope", t.scope), a("p50_ns", t.p50_ns), a("within_spread", t.within_spread),
      a("between_spread", t.between_spread);
}
template <class A>
void fields(A& a, Throughput& t) {
  a("item", t.item), a("per_s", t.per_s);
}
template <class A>
void fields(A& a, SpeedUp& t) {
  a("baseline_case_id", t.baseline_case_id), a("ratio", t.ratio), a("pairs", t.pairs), a("scope", t.scope);
  a("verdict", t.verdict), a("p_sign", t.p_sign), a("pairs_apart", t.pairs_apart), a("reason", t.reason);
}
template <class A>
void fields(A& a, Quantisation& t) {
  a("precision", t.precision), a("activations", t.activations), a("bias", t.bias), a("method", t.method);
  a("calibration", t.calibration), a("weight_bits", t.weight_bits), a("samples", t.samples),
      a("layers", t.layers);
  a("float_layers", t.float_layers), a("notes", t.notes);
}
template <class A>
void fields(A& a, ModelFile& t) {
  a("format", t.format), a("size_bytes", t.size_bytes), a("prepare_ns", t.prepare_ns);
  a("quantisation", t.quantisation);
}
template <class A>
void fields(A& a, Memory& t) {
  a("rss_before_load_bytes", t.rss_before_load_bytes), a("rss_peak_bytes", t.rss_peak_bytes);
  a("rss_peak_above_load_bytes", t.rss_peak_above_load_bytes), a("tensor_peak_bytes", t.tensor_peak_bytes);
  a("reserved_peak_bytes", t.reserved_peak_bytes);
}
template <class A>
void fields(A& a, Flops& t) {
  a("model_flops_per_item", t.model_flops_per_item), a("convention", t.convention);
  a("achieved_flops_per_s", t.achieved_flops_per_s),
      a("peak_measured_flops_per_s", t.peak_measured_flops_per_s);
  a("peak_source", t.peak_source), a("peak_spread", t.peak_spread);
  a("share_of_measured_peak", t.share_of_measured_peak);
}
template <class A>
void fields(A& a, Overhead& t) {
  a("timer_resolution_ns", t.timer_resolution_ns), a("timer_cost_ns", t.timer_cost_ns);
  a("timer_cost_p99_ns", t.timer_cost_p99_ns), a("harness_cost_ns", t.harness_cost_ns);
  a("overhead_fraction", t.overhead_fraction), a("os_noise_frac", t.os_noise_frac),
      a("calibration_drift", t.calibration_drift);
}
template <class A>
void fields(A& a, Noise::Mode& t) {
  a("median_ns", t.median_ns), a("share", t.share);
}
template <class A>
void fields(A& a, Noise& t) {
  a("runq_wait_frac", t.runq_wait_frac), a("nivcsw_per_s", t.nivcsw_per_s), a("steal_frac", t.steal_frac);
  a("psi_cpu_some", t.psi_cpu_some), a("foreign_cpu_frac", t.foreign_cpu_frac), a("freq_cv", t.freq_cv);
  a("cgroup_throttled", t.cgroup_throttled), a("drift_frac", t.drift_frac), a("drift_z", t.drift_z),
      a("tau_x", t.tau_x), a("processes_z", t.processes_z);
  a("multimodal", t.multimodal), a("modes", t.modes), a("warnings", t.warnings);
}
template <class A>
void fields(A& a, Outliers& t) {
  a("mild", t.mild), a("severe", t.severe), a("severe_time_share", t.severe_time_share);
  a("median_excl_severe_ns", t.median_excl_severe_ns);
}
template <class A>
void fields(A& a, Stage& t) {
  a("name", t.name), a("mean_ns", t.mean_ns), a("p50_ns", t.p50_ns), a("p99_ns", t.p99_ns);
}
template <class A>
void fields(A& a, SloResult& t) {
  a("p", t.p), a("bound_ns", t.bound_ns), a("confidence", t.confidence), a("over", t.over);
  a("n_eff", t.n_eff), a("over_eff", t.over_eff), a("verdict", t.verdict), a("detail", t.detail);
}
template <class A>
void fields(A& a, CapacityTrial& t) {
  a("rate_per_s", t.rate_per_s), a("requests", t.requests), a("over", t.over), a("long_run", t.long_run);
  a("issued_late", t.issued_late), a("verdict", t.verdict);
}
template <class A>
void fields(A& a, Capacity& t) {
  a("per_s", t.per_s), a("missed_per_s", t.missed_per_s), a("stopped", t.stopped), a("trials", t.trials);
  // Files of version 1.2 hold searches without the rate that missed.
  if constexpr (std::is_same_v<A, Reader>)
    if (t.per_s && t.missed_per_s.reason() == kNoSearch)
      t.missed_per_s = Number::missing("this file is of a version that did not store the rate that missed");
}
template <class A>
void fields(A& a, BatchSize& t) {
  a("size", t.size), a("requests", t.requests);
}
template <class A>
void fields(A& a, InstanceLoad& t) {
  a("index", t.index), a("cpus", t.cpus), a("claimed", t.claimed), a("completed", t.completed);
  a("timed_out", t.timed_out), a("unfinished", t.unfinished), a("failed", t.failed), a("died", t.died);
}
template <class A>
void fields(A& a, Load& t) {
  a("instances", t.instances), a("failed", t.failed);
  a("concurrency", t.concurrency), a("saturation_per_s", t.saturation_per_s), a("arrival", t.arrival);
  a("arrival_seed", t.arrival_seed), a("max_batch", t.max_batch), a("batch_timeout_ns", t.batch_timeout_ns);
  a("batching", t.batching), a("batch_sizes", t.batch_sizes), a("mean_batch", t.mean_batch);
  a("offered_per_s", t.offered_per_s);
  a("completed_per_s", t.completed_per_s), a("utilization", t.utilization), a("offered", t.offered);
  a("completed", t.completed), a("timed_out", t.timed_out), a("unfinished", t.unfinished);
  a("warmup_requests", t.warmup_requests), a("completed_frac", t.completed_frac);
  a("issue_delay_p99_ns", t.issue_delay_p99_ns), a("issue_delay_limit_ns", t.issue_delay_limit_ns);
  a("backlog_slope_frac", t.backlog_slope_frac), a("in_flight", t.in_flight);
  a("requests_needed", t.requests_needed), a("requests", t.requests), a("stages", t.stages);
  a("slo", t.slo), a("capacity", t.capacity), a("invalid", t.invalid);
}
template <class A>
void fields(A& a, StepParts& t) {
  a("step_ns", t.step_ns), a("data_wait_ns", t.data_wait_ns), a("input_ns", t.input_ns),
      a("forward_ns", t.forward_ns);
  a("backward_ns", t.backward_ns), a("exposed_ns", t.exposed_ns), a("optimizer_ns", t.optimizer_ns);
}
template <class A>
void fields(A& a, StepShares& t) {
  a("data_wait", t.data_wait), a("input", t.input), a("forward", t.forward), a("backward", t.backward);
  a("exposed", t.exposed), a("optimizer", t.optimizer);
}
template <class A>
void fields(A& a, RankFigures& t) {
  a("rank", t.rank), a("host", t.host), a("process_id", t.process_id), a("cpus", t.cpus),
      a("threads", t.threads);
  a("parts", t.parts), a("compute_ns", t.compute_ns), a("rss_peak_bytes", t.rss_peak_bytes),
      a("slowest_steps", t.slowest_steps);
}
template <class A>
void fields(A& a, EpochFigures& t) {
  a("epoch", t.epoch), a("steps", t.steps), a("samples", t.samples), a("loss", t.loss);
  a("accuracy", t.accuracy), a("learning_rate", t.learning_rate), a("seconds", t.seconds),
      a("samples_per_s", t.samples_per_s);
  a("step_p50_ns", t.step_p50_ns);
  a("eval_samples", t.eval_samples), a("eval_loss", t.eval_loss), a("eval_accuracy", t.eval_accuracy);
  a("eval_seconds", t.eval_seconds);
}
template <class A>
void fields(A& a, BucketFigures& t) {
  a("bytes", t.bytes), a("launched_ns", t.launched_ns), a("finished_ns", t.finished_ns);
}
template <class A>
void fields(A& a, RestartFigures& t) {
  a("cause", t.cause), a("detect_ns", t.detect_ns), a("first_step_ns", t.first_step_ns);
  a("steps_lost", t.steps_lost), a("world_before", t.world_before), a("world_after", t.world_after);
}
template <class A>
void fields(A& a, CheckpointFigures& t) {
  a("written", t.written), a("bytes", t.bytes), a("write_ns", t.write_ns), a("blocked_ns", t.blocked_ns);
  a("read_ns", t.read_ns), a("resumed_step", t.resumed_step);
}
template <class A>
void fields(A& a, Training& t) {
  a("backend", t.backend), a("launcher", t.launcher), a("ddp", t.ddp), a("ranks", t.ranks),
      a("epochs", t.epochs);
  a("parts", t.parts), a("shares", t.shares);
  a("first_loss", t.first_loss), a("last_loss", t.last_loss), a("steps", t.steps);
  a("skipped_steps", t.skipped_steps), a("loss_scale", t.loss_scale), a("total_ns", t.total_ns);
  a("parameters", t.parameters), a("parameter_tensors", t.parameter_tensors),
      a("bucket_bytes", t.bucket_bytes);
  a("buckets", t.buckets), a("collectives_per_step", t.collectives_per_step),
      a("exposed_share", t.exposed_share);
  a("overlap_ratio", t.overlap_ratio);
  a("data_wait_share", t.data_wait_share), a("straggler_index", t.straggler_index),
      a("straggler_rank", t.straggler_rank);
  a("sync_variation", t.sync_variation), a("loader_samples_per_s", t.loader_samples_per_s),
      a("fingerprint", t.fingerprint);
  a("checkpoints", t.checkpoints), a("restarts", t.restarts), a("notes", t.notes);
}
template <class A>
void fields(A& a, Scaling& t) {
  a("base_case_id", t.base_case_id), a("base_world", t.base_world), a("world", t.world);
  a("efficiency", t.efficiency), a("ci_low", t.ci_low), a("ci_high", t.ci_high);
  a("speedup", t.speedup), a("superlinear", t.superlinear);
}
template <class A>
void fields(A& a, Repetition& t) {
  a("index", t.index), a("started_utc", t.started_utc), a("n", t.n), a("p50_ns", t.p50_ns),
      a("mean_ns", t.mean_ns);
  a("first_iteration_ns", t.first_iteration_ns), a("load_ns", t.load_ns),
      a("process_start_ns", t.process_start_ns);
  a("warmup_mode", t.warmup_mode), a("warmup_iterations", t.warmup_iterations), a("warmup_ns", t.warmup_ns);
  a("steady_state", t.steady_state), a("mser_cut", t.mser_cut), a("residual_warmup", t.residual_warmup);
  a("converged", t.converged), a("stop_reason", t.stop_reason), a("unmet", t.unmet),
      a("elapsed_ns", t.elapsed_ns);
  a("checks", t.checks), a("foreign_cpu_frac", t.foreign_cpu_frac), a("memory", t.memory),
      a("overhead", t.overhead);
  a("noise", t.noise), a("load", t.load), a("training", t.training);
}
template <class A>
void fields(A& a, CrossCheck& t) {
  a("asked", t.asked), a("tool", t.tool), a("version", t.version), a("command", t.command);
  a("iterations", t.iterations), a("ours_ns", t.ours_ns), a("theirs_ns", t.theirs_ns);
  a("ours_p50_ns", t.ours_p50_ns), a("theirs_p50_ns", t.theirs_p50_ns), a("ratio", t.ratio);
  a("verdict", t.verdict), a("reason", t.reason), a("log_tail", t.log_tail), a("notes", t.notes);
}
template <class A>
void fields(A& a, LayerRow& t) {
  a("name", t.name), a("type", t.type), a("precision", t.precision), a("model_layer", t.model_layer);
  a("time_ns", t.time_ns), a("share", t.share);
}
template <class A>
void fields(A& a, LayerProfile& t) {
  a("asked", t.asked), a("source", t.source), a("statistic", t.statistic), a("inferences", t.inferences);
  a("layers", t.layers);
  a("sum_ns", t.sum_ns), a("of_latency", t.of_latency), a("file", t.file), a("top", t.top);
  a("reason", t.reason);
}
template <class A>
void fields(A& a, OperatorRow& t) {
  a("name", t.name), a("calls", t.calls), a("self_ns", t.self_ns), a("total_ns", t.total_ns),
      a("share", t.share);
}
template <class A>
void fields(A& a, ProfiledSteps& t) {
  a("source", t.source), a("untimed_steps", t.untimed_steps), a("step_ns", t.step_ns), a("parts", t.parts);
  a("operators", t.operators), a("outside_ns", t.outside_ns), a("no_trace", t.no_trace);
}
template <class A>
void fields(A& a, OperatorProfile& t) {
  a("source", t.source), a("steps", t.steps), a("untimed_steps", t.untimed_steps), a("step_ns", t.step_ns);
  a("of_timed", t.of_timed), a("total_ns", t.total_ns), a("parts", t.parts), a("operators", t.operators);
  a("top", t.top), a("rest", t.rest), a("outside_ns", t.outside_ns), a("outside_share", t.outside_share);
  a("table", t.table), a("trace", t.trace), a("trace_bytes", t.trace_bytes), a("reason", t.reason);
}
template <class A>
void fields(A& a, SamplesFile& t) {
  a("file", t.file), a("format", t.format), a("columns", t.columns), a("sha256", t.sha256);
}
template <class A>
void fields(A& a, CaseResult& t) {
  a("schema_version", t.schema_version), a("case_id", t.case_id), a("label", t.label), a("run_id", t.run_id);
  a("benchmark", t.benchmark), a("outcome", t.outcome), a("reason", t.reason),
      a("reason_code", t.reason_code);
  a("log_tail", t.log_tail), a("complete", t.complete), a("repetitions_planned", t.repetitions_planned);
  a("grade", t.grade), a("grade_reasons", t.grade_reasons), a("correctness", t.correctness),
      a("precision", t.precision);
  a("headline", t.headline), a("stats", t.stats), a("throughput", t.throughput), a("load", t.load);
  a("training", t.training), a("scaling", t.scaling);
  a("device_p50_ns", t.device_p50_ns);
  a("first_iteration_ns", t.first_iteration_ns), a("load_ns", t.load_ns), a("speedup", t.speedup);
  a("model_file", t.model_file), a("memory", t.memory);
  a("flops", t.flops), a("overhead", t.overhead), a("noise", t.noise), a("outliers", t.outliers);
  a("cross_check", t.cross_check), a("layer_profile", t.layer_profile),
      a("operator_profile", t.operator_profile);
  a("repetitions", t.repetitions), a("samples", t.samples), a("effective_settings", t.effective_settings);
  a("config_effective", t.config_effective);
}
template <class A>
void fields(A& a, Finding& t) {
  a("id", t.id), a("severity", t.severity), a("text", t.text), a("evidence", t.evidence),
      a("advice", t.advice);
  a("case_ids", t.case_ids);
}
template <class A>
void fields(A& a, GateResult& t) {
  a("expression", t.expression), a("case_id", t.case_id), a("metric", t.metric), a("verdict", t.verdict),
      a("detail", t.detail);
}
template <class A>
void fields(A& a, Suite& t) {
  a("version", t.version), a("git_sha", t.git_sha), a("build_type", t.build_type), a("compiler", t.compiler);
}
template <class A>
void fields(A& a, RunResult& t) {
  a("schema_version", t.schema_version), a("suite", t.suite), a("experiment_name", t.experiment_name),
      a("run_id", t.run_id);
  a("started_utc", t.started_utc), a("resumed_utc", t.resumed_utc), a("finished_utc", t.finished_utc),
      a("command_line", t.command_line);
  a("outcome", t.outcome), a("exit_code", t.exit_code), a("cases", t.cases), a("findings", t.findings),
      a("gates", t.gates);
  a("warnings", t.warnings), a("environment", t.environment);
}

}  // namespace paceline::result
