// SPDX-License-Identifier: MIT
#pragma once
#include "base/archive.h"
#include "result/stored/case_result.h"
#include "result/stored/run_result.h"

namespace paceline::archive {

template <>
struct EnumNames<result::Outcome> {
  static constexpr auto kValue = result::kOutcomeNames;
};
template <>
struct EnumNames<result::EndedBecause> {
  static constexpr auto kValue = result::kEndings;
};
template <>
struct EnumNames<result::Grade> {
  static constexpr std::array<std::pair<result::Grade, std::string_view>, 3> kValue{
      {{result::Grade::kA, "A"}, {result::Grade::kB, "B"}, {result::Grade::kC, "C"}}};
  static constexpr result::Grade kNull = result::Grade::kNone;
  static constexpr std::string_view kNullReason = "only a measured case has a grade";
};
// Words of a column, and "" for the default.
template <auto column>
struct EnumNames<Worded<column>> {
  static constexpr auto kValue = [] {
    using Value = typename Worded<column>::Value;
    constexpr auto& rows = rows_of(Value{});
    std::array<std::pair<Worded<column>, std::string_view>, rows.size() + 1> names{};
    std::size_t used = 0;
    for (std::size_t i = 0; i < rows.size(); ++i)
      if (const auto word = rows[i].*column; !word.empty()) names[used++] = {static_cast<Value>(i), word};
    return names;
  }();
};
template <>
inline constexpr bool kStandBeside<result::Payload> = true;
template <>
struct EnumNames<WorkloadKind> {
  static constexpr auto kValue = names_of_rows(kWorkloadKinds, &KindTraits::kind);
};
template <>
struct EnumNames<Scenario> {
  static constexpr auto kValue = names_of_rows(kScenarios, &ScenarioTraits::scenario);
};

}  // namespace paceline::archive

namespace paceline::answer {
// Findings of runs have no cost beside their text.
template <class A>
void fields(A& a, Finding& t) {
  a("id", t.id), a("severity", t.severity), a("text", t.text), a("evidence", t.evidence);
  a("advice", t.advice), a("case_ids", t.about);
}
}  // namespace paceline::answer

// The one list of every field of the result files (names as in JSON).
namespace paceline::result {

using archive::Json;
using archive::Reader;
using archive::Writer;

template <class A>
void fields(A& a, Benchmark& t) {
  Count gpus(t.gpus, "none asked for"), instances(t.instances, "none asked for");
  a("id", t.id), a("kind", t.kind), a("scenario", t.scenario), a("timing_mode", t.timing_mode);
  a("cache_mode", t.cache_mode), a("model", t.model), a("engine", t.engine), a("precision", t.precision);
  a("layout", t.layout), a("batch_per_rank", t.batch_per_rank), a("world_size", t.world_size);
  a("threads", t.threads), a("device", t.device), a("gpus", gpus), a("instances", instances);
  a("fault", t.fault), a("params", t.params), a("schedule", t.schedule);
  t.gpus = gpus.value(), t.instances = instances.value();
}
PACELINE_FIELDS(Estimate, value, ci_low, ci_high, confidence, ci_method);
PACELINE_FIELDS(LabelledAnswers, inputs_sha256, right_base64);
PACELINE_FIELDS(LabelledAccuracy, labels, reference_top1, top1, change, lost, gained, answers);
PACELINE_FIELDS(AccuracyClaim, limit, basis, verdict, bound, inputs_needed, detail);
PACELINE_FIELDS(OutputAgreement, name, kind, because, judged_by, passed, max_rel_err, max_abs_err,
                centred_cosine, cosine, scale, quantile_err, quantile_err_worst, equal_share, detail,
                error_ulps, limit_ulps, layer_ulps, ulp_change, blind, needs_inputs);
PACELINE_FIELDS(Correctness, checked, passed, reference, samples, max_rel_err, centred_cosine, top1_agreement,
                max_rel_err_tolerance, centred_cosine_tolerance, detail, inputs, generated_inputs,
                samples_asked, samples_given, samples_run, judged_by, judged_because, max_abs_err, cosine,
                kl_nats, answers, top1, top5, next_token, reference_answers, max_changed_tolerance, labelled,
                claim, outputs, worst_output, quantile_err_tolerance, verdict, verdict_because,
                unchecked_because, needs_inputs, independence, refused_by, engine_reference, engine_strays,
                engine_max_rel_err, subnormal_outputs, subnormal_weights);
PACELINE_FIELDS(ExecutedPrecision, precision, flops_share, operators, weights);
PACELINE_FIELDS(FloatLayers, kind, precision, layers, of, flops_share, first, reason, advice);
PACELINE_FIELDS(PrecisionReadBack, asked, executed, source, in_float);
PACELINE_FIELDS(Quantile, p, value_ns, ci_low_ns, ci_high_ns, confidence, ci_method, actual_coverage, n_eff);
PACELINE_FIELDS(Stats, clock, n, tau_x, min_ns, max_ns, median_ns, mean_ns, stddev_ns, mad_ns,
                quantile_method, quantiles, highest_claimable_p);
PACELINE_FIELDS(Headline, scope, p50_ns, within_spread, between_spread);
PACELINE_FIELDS(Throughput, item, per_s);
PACELINE_FIELDS(SpeedUp, baseline_case_id, ratio, pairs, scope, verdict, p_sign, pairs_apart, reason,
                no_size);
PACELINE_FIELDS(Quantisation, precision, activations, bias, method, calibration, weight_bits, samples, layers,
                float_layers, excluded, notes);
PACELINE_FIELDS(ModelFile, format, size_bytes, prepare_ns, quantisation);
PACELINE_FIELDS(Memory, rss_before_load_bytes, shared_before_load_bytes, rss_peak_bytes,
                rss_peak_above_load_bytes, tensor_peak_bytes, reserved_peak_bytes);
PACELINE_FIELDS(Flops, model_flops_per_item, convention, achieved_flops_per_s, peak_measured_flops_per_s,
                peak_source, peak_spread, share_of_measured_peak, peak_datasheet_flops_per_s,
                share_of_datasheet_peak, flops_per_byte, convolution_share);
PACELINE_FIELDS(DevicePart, name, n, min_ns, mean_ns, p50_ns, p99_ns);
PACELINE_FIELDS(PicturePart, name, n, mean_ns, p50_ns);
PACELINE_FIELDS(Overhead, timer_resolution_ns, timer_cost_ns, timer_cost_p99_ns, harness_cost_ns,
                overhead_fraction, os_noise_frac, calibration_drift);
PACELINE_FIELDS(Noise::Mode, median_ns, share);
PACELINE_FIELDS(Noise, running_frac, runq_wait_frac, nivcsw_per_s, steal_frac, psi_cpu_some, foreign_cpu_frac,
                freq_cv, core_mhz, cgroup_throttled, drift_frac, drift_z, device_drift_frac, device_drift_z,
                tau_x, processes_z, multimodal, modes, instrument, warnings);
PACELINE_FIELDS(StateSign, what, unit, fast, slow);
PACELINE_FIELDS(TwoStates, fast_ns, slow_ns, slow_share, by_process, signs, alike, unread);
PACELINE_FIELDS(Outliers, mild, severe, severe_time_share, median_excl_severe_ns);
PACELINE_FIELDS(Stage, name, mean_ns, p50_ns, p99_ns);
PACELINE_FIELDS(SloResult, p, bound_ns, confidence, over, n_eff, over_eff, offered_per_s, verdict, detail);
PACELINE_FIELDS(CapacityTrial, rate_per_s, requests, over, long_run, issued_late, verdict);
PACELINE_FIELDS(Capacity, per_s, missed_per_s, stopped, trials);
PACELINE_FIELDS(BatchSize, size, requests);
PACELINE_FIELDS(InstanceLoad, index, cpus, claimed, completed, timed_out, unfinished, failed, died);
PACELINE_FIELDS(Replay, file, format, unit, times, replayed, speed);
PACELINE_FIELDS(Load, instances, failed, concurrency, saturation_per_s, arrival, replay, arrival_seed,
                max_batch, batch_timeout_ns, batching, batch_sizes, mean_batch, offered_per_s,
                completed_per_s, utilization, offered, completed, timed_out, unfinished, warmup_requests,
                completed_frac, issue_delay_p50_ns, issue_delay_p99_ns, issue_delay_max_ns,
                issue_delay_limit_ns, backlog_slope_frac, in_flight, requests_needed, requests, stages, slo,
                capacity, invalid);
template <class A, typename Part, typename T>
void times_of_parts(A& a, PerPart<Part, T>& t) {
  for (const auto part : kAllParts<Part>) a(traits_of(part).ns_name, t[part]);
}
template <class A>
void fields(A& a, StepParts& t) {
  a("step_ns", t.step_ns), times_of_parts(a, t.ns);
}
template <class A>
void fields(A& a, StepShares& t) {
  for (const auto part : kStepParts) a(traits_of(part).name, t[part]);
}
template <class A>
void fields(A& a, StepCosts& t) {
  a("step_ns", t.step_ns), times_of_parts(a, t.own_ns), a("straggler_wait_ns", t.straggler_wait_ns);
  a("communication_ns", t.communication_ns), a("own_sd_ns", t.own_sd_ns);
}
PACELINE_FIELDS(LateCause, name, explains_ns, evidence);
PACELINE_FIELDS(LateRank, rank, certain, late_in, last_share, chance, late_ns, mean_late_ns, cost_ns,
                waiting_share, first_step, since_step, last_step, until_step, begins_late, every, steps,
                exchanges, late_exchanges, causes);
PACELINE_FIELDS(LossPart, name, cost_ns, share);
PACELINE_FIELDS(DeviceSlowdown, reason, share);
template <class A>
void fields(A& a, RankEvidence& t) {
  a("runq_wait_ns", t.runq_wait_ns), a("cpu_ns", t.cpu_ns), a("system_ns", t.system_ns);
  a("minor_faults", t.minor_faults), a("major_faults", t.major_faults), a("throttled_ns", t.throttled_ns);
  a("steal_frac", t.steal_frac), a("foreign_frac", t.foreign_frac), a("core_mhz", t.core_mhz);
  a("device_mhz", t.device_mhz), a("foreign_process", t.foreign_process);
  std::string words = slowdown_text(t.device_slowdowns);  // for people; nothing reads it
  a("device_slowdown", words), a("device_slowdowns", t.device_slowdowns);
}
PACELINE_FIELDS(RankFigures, rank, host, process_id, cpus, threads, parts, compute_ns, rss_peak_bytes,
                device_peak_bytes, slowest_steps, evidence);
PACELINE_FIELDS(EpochFigures, epoch, steps, samples, loss, accuracy, learning_rate, seconds, samples_per_s,
                step_mean_ns, step_p50_ns, step_p95_ns, eval_samples, eval_loss, eval_accuracy, eval_seconds);
PACELINE_FIELDS(BucketFigures, bytes, launched_ns, finished_ns, transfer_ns);
PACELINE_FIELDS(RestartFigures, cause, detect_ns, first_step_ns, steps_lost, world_before, world_after);
PACELINE_FIELDS(CheckpointFigures, written, bytes, write_ns, blocked_ns, read_ns, resumed_step);
PACELINE_FIELDS(Training, backend, launcher, ddp, ranks, epochs, parts, shares, first_loss, last_loss, steps,
                skipped_steps, loss_scale, total_ns, parameters, parameter_tensors, bucket_bytes, buckets,
                collectives_per_step, costs, late, suspected, straggler_wait_share, communication_share,
                exposed_share, overlap_ratio, data_wait_share, straggler_index, straggler_rank,
                sync_variation, loader_samples_per_s, fingerprint, checkpoints, restarts, notes);
PACELINE_FIELDS(CollectiveRank, rank, host, process_id, cpus);
PACELINE_FIELDS(CollectiveTimes, bytes, count, in_place, checked, wrong, batch, batch_ns, sync_ns,
                sync_start_ns, stream_ns, converged);
PACELINE_FIELDS(RoundTimes, attempt, round, members, ns, wrong);
PACELINE_FIELDS(SubsetFigures, members, ns, gb_per_s, times);
PACELINE_FIELDS(SlowPart, what, ranks, hosts, factor, across_only);
PACELINE_FIELDS(RoundFigures, of, bytes, rounds, attempts, wrong, slow_factor, subsets, slow, cleared,
                no_verdict);
PACELINE_FIELDS(OperationSpread, min_ns, max_ns, mean_ns, stddev_ns, p95_ns);
PACELINE_FIELDS(CollectiveFigures, batch_ns, batch_algbw_gb_per_s, batch_busbw_gb_per_s, sync_ns,
                sync_busbw_gb_per_s, sync_p99_ns, sync_spread, stream_ns, n, wrong, converged);
PACELINE_FIELDS(CollectiveSizeFigures, bytes, count, out_of_place, in_place, expected_busbw_gb_per_s,
                expected_share);
PACELINE_FIELDS(LinkFigures, from_bytes, to_bytes, alpha_ns, gb_per_s);
PACELINE_FIELDS(LeastBandwidth, bytes, gb_per_s);
PACELINE_FIELDS(CollectiveResult, operation, dtype, reduction, root, backend, launcher, ranks, sizes,
                average_busbw_gb_per_s, wrong, link, link_error, least_busbw, rounds, topology, notes);
PACELINE_FIELDS(Scaling, base_case_id, base_world, world, efficiency, ci_low, ci_high, speedup, superlinear,
                budget);
PACELINE_FIELDS(SampledSeries, device, metric, unit, times_s, numbers, words);
PACELINE_FIELDS(SampledWindow, sampler, repetition, rank, readings, window_s, cpu_s, problem, series);
PACELINE_FIELDS(WordCount, words, n);
PACELINE_FIELDS(SampledMetric, rank, device, metric, unit, n, mean, min, max, words);
PACELINE_FIELDS(Sampled, sampler, windows, readings, cpu_share, problems, metrics);
PACELINE_FIELDS(DeviceState, rank, device, readings, sm_clock_mean_mhz, sm_clock_min_mhz, sm_clock_cv,
                memory_clock_mean_mhz, power_mean_w, power_max_w, temperature_max_c, utilization_mean,
                memory_used_max_bytes, other_processes, slowdown_read, slowdowns, energy_j, energy_window_s,
                energy_per_item_j, energy_scope, idle_power_w, energy_above_idle_per_item_j);
PACELINE_FIELDS(CpuPower, rank, part, scope, power_mean_w, power_max_w, idle_power_w, energy_j,
                energy_window_s, energy_per_item_j, energy_above_idle_per_item_j);
PACELINE_FIELDS(DevicePeak, operation, variant, per_s, spread, n, detail, datasheet_per_s);
PACELINE_FIELDS(DevicePeaks, device, driver, power_limit_w, measured_utc, peaks);
// Each kind of payload is a list: of it, or empty.
template <typename T, class A>
void field_of(A& a, const char* name, Payload& t) {
  auto value = t.find<T>() ? std::optional(*t.find<T>()) : std::nullopt;
  a(name, value);
  if (value && !t.find<T>()) t.fill<T>() = std::move(*value);
}
template <class A>
void fields(A& a, Payload& t) {
  field_of<Load>(a, "load", t), field_of<Training>(a, "training", t);
  field_of<CollectiveResult>(a, "collective", t);
}
PACELINE_FIELDS(NewShape, shape, first_ns, second_ns);
PACELINE_FIELDS(Repetition, index, started_utc, n, p50_ns, mean_ns, first_iteration_ns, load_ns,
                process_start_ns, warmup_mode, warmup_iterations, warmup_ns, steady_state, mser_cut,
                residual_warmup, converged, stop_reason, unmet, elapsed_ns, checks, foreign_cpu_frac, memory,
                overhead, noise, in_turns, control_ns, new_shapes, payload);
PACELINE_FIELDS(CrossCheck, asked, tool, version, command, iterations, ours_ns, theirs_ns, ours_p50_ns,
                theirs_p50_ns, ratio, verdict, reason, log_tail, notes);
PACELINE_FIELDS(LayerRow, name, type, precision, model_layer, time_ns, share, times_ns);
PACELINE_FIELDS(LayerProfile, asked, source, statistic, inferences, layers, sum_ns, of_latency, file, top,
                reason);
PACELINE_FIELDS(OperatorRow, name, calls, self_ns, total_ns, share);
PACELINE_FIELDS(ProfiledSteps, source, on_device, untimed_steps, step_ns, parts, operators, outside_ns,
                no_trace);
PACELINE_FIELDS(OperatorProfile, source, on_device, steps, untimed_steps, step_ns, of_timed, total_ns, parts,
                operators, top, rest, outside_ns, outside_share, table, trace, trace_bytes, reason);
PACELINE_FIELDS(SamplesFile, file, format, columns, sha256);
PACELINE_FIELDS(CaseResult, schema_version, case_id, label, run_id, benchmark, outcome, reason, reason_code,
                lacks_reference, log_tail, complete, repetitions_planned, ended_because, grade, grade_reasons,
                correctness, precision, headline, stats, throughput, payload, scaling, device_p50_ns,
                device_parts, picture_parts, pictures_left_out, back_to_back_ns, first_iteration_ns, load_ns,
                speedup, model_file, memory, flops, overhead, noise, two_states, sampled, devices, cpu_power,
                device_peaks, outliers, cross_check, layer_profile, operator_profile, repetitions, samples,
                effective_settings, config_effective);
PACELINE_FIELDS(GateResult, expression, case_id, metric, verdict, detail, invalid);
PACELINE_FIELDS(Suite, version, git_sha, build_type, compiler);
PACELINE_FIELDS(RunResult, schema_version, suite, experiment_name, run_id, started_utc, resumed_utc,
                finished_utc, command_line, outcome, exit_code, sentence, cases, findings, gates, warnings,
                environment);

}  // namespace paceline::result
