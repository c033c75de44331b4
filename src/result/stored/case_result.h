// SPDX-License-Identifier: MIT
#pragma once
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/json.h"
#include "base/maybe.h"
#include "base/scenario.h"
#include "base/workload_kind.h"
#include "result/stored/cpu_power.h"
#include "result/stored/device_peaks.h"
#include "result/stored/device_state.h"
#include "result/stored/estimate.h"
#include "result/stored/labelled_answers.h"
#include "result/stored/layers.h"
#include "result/stored/operator_profile.h"
#include "result/stored/outcome.h"
#include "result/stored/payload.h"
#include "result/stored/sampled.h"
#include "result/stored/speed.h"
#include "result/stored/two_states.h"

// One case of a run as plain data: what result.json holds. Field lists for reading and writing:
// case_fields.h. Times are host time in ns unless the name says otherwise; GB and GFLOP are 10^9.
namespace paceline::result {

// Minor: fields added; major: fields changed or removed.
inline constexpr const char* kSchemaVersion = "1.0";

inline constexpr const char* kWithinProcess = "within_process";
// With six or more fresh processes, claims are allowed.
inline constexpr const char* kBetweenProcess = "between_process";

// kA: no warning; kB: warnings; kC: not valid for latency claims; kNone: nothing measured (null in files).
enum class Grade { kA, kB, kC, kNone };

// The reason code of a case that no process has measured yet.
inline constexpr const char* kNotMeasured = "not_measured";
inline constexpr const char* kTrained = "trained";  // resumed training that was done before

// Identity of a benchmark. Results are compared only between equal identities.
struct Benchmark {
  std::string id;  // equals the id of the case
  WorkloadKind kind = WorkloadKind::kInference;
  Scenario scenario = Scenario::kSync;
  std::string timing_mode = "sync_latency";  // sync_latency | batched | pipelined
  std::string cache_mode = "warm";
  std::string model;
  std::string engine;
  std::string precision;  // as asked for
  std::string layout = "contiguous";
  std::int64_t batch_per_rank = 1;
  std::int64_t world_size = 1;
  std::int64_t threads = 1;  // as asked for; the effective number is in effective_settings
  std::string device;        // as asked for ("cuda", "cuda:1", of ranks "cuda"); empty on the CPU
  std::optional<std::int64_t> gpus, instances;  // as asked for
  std::string fault;  // as it was written ("slow=200ms:rank=1"); empty: none was injected
  // Everything else that tells cases apart (sequence_length, env.X, …).
  std::map<std::string, std::string> params;
  std::string schedule;  // digest of the recorded times of server.arrival; empty: arrivals are drawn
  friend bool operator==(const Benchmark&, const Benchmark&) = default;
};

// Compared with the truth instead of the reference, where labels are given; both models on the same inputs.
struct LabelledAccuracy {
  std::string labels;  // the file
  Estimate reference_top1, top1;
  Estimate change;     // top1 - reference_top1, paired
  Count lost, gained;  // inputs that only the reference, or only this case, answers correctly
  LabelledAnswers answers;
};

// "Top-1 changes by less than `limit`", decided on one-sided 95 % bounds.
struct AccuracyClaim {
  Number limit;       // missing: no claim
  std::string basis;  // answers: share of inputs whose answer changes; labels: loss of top-1 accuracy
  answer::ClaimVerdict verdict;
  Number bound;         // largest change that the inputs still allow
  Count inputs_needed;  // at the share seen so far
  std::string detail;
};

// One output of the model against the reference's. Formulas and rules: docs/methodology.md, accuracy.
struct OutputAgreement {
  std::string name;
  std::string kind;       // classes | tokens | dense | embedding | boxes | integers | none
  std::string because;    // why it is of this kind, or why it is not compared
  std::string judged_by;  // answers | max_error | quantile_error | cosine | equal_values | boxes | ulps |
                          // engine; empty: not compared
  bool passed = false;
  Number max_rel_err, max_abs_err, centred_cosine, cosine;
  Number scale;               // standard deviation of the reference's elements
  Number quantile_err;        // 0.98 quantile of |a-b| over scale, all samples
  Number quantile_err_worst;  // the same for the worst sample
  Number equal_share;         // integers: equal values; boxes: boxes that have a counterpart
  std::string detail;         // what failed, with figures
  // In units of what one unit in the last place of the inputs does to the reference's output.
  Number error_ulps = Number::missing("the reference has no yardstick");  // root mean square of the errors
  Number limit_ulps = error_ulps;
  Number layer_ulps = error_ulps;  // what rounding one layer to bfloat16 does
  Number ulp_change = error_ulps;  // the unit itself
  std::string blind;               // why an error could not be seen; empty: it could
  bool needs_inputs = false;       // because generated inputs decide nothing about eight bits
};

// All outputs compared with the reference's; figures outside `outputs` are those of the first. A sample is
// one input with one row (classes) or one row per position (tokens). Formulas: docs/metrics.md, accuracy.
struct Correctness {
  bool checked = false;
  bool passed = false;
  std::string reference;     // e.g. "eager fp32, same weights and inputs"
  std::int64_t samples = 0;  // distinct inputs compared
  Number max_rel_err;        // max|a-b| / max|b|
  Number centred_cosine;     // cosine after removing the batch-mean output; worst sample
  Number top1_agreement;     // value of top1, or of next_token where there is no top1
  Number max_rel_err_tolerance;
  Number centred_cosine_tolerance;
  std::string detail;             // what failed, with figures
  std::string inputs;             // where they come from
  bool generated_inputs = false;  // they are random numbers
  Count samples_asked;
  Count samples_given = Count::missing("the inputs are generated");  // in the user's files
  Count samples_run = samples_given;                                 // of them: compared, or found finite
  std::string judged_by;  // outputs: max_rel_err and centred_cosine; answers: share of changed answers
  std::string judged_because;
  Number max_abs_err;
  Number cosine;            // worst sample
  Number kl_nats;           // mean over rows of KL(softmax(reference) || softmax(output))
  std::string answers;      // what a row holds: classes | tokens | none
  Estimate top1, top5;      // share of samples: same answer; the reference's answer among the five largest
  Estimate next_token;      // share of positions with the same answer
  Count reference_answers;  // number of distinct ones
  Number max_changed_tolerance;  // largest accepted share of changed answers
  LabelledAccuracy labelled;
  AccuracyClaim claim;
  std::vector<OutputAgreement> outputs;  // in the model's order; empty: nothing was compared
  std::string worst_output;              // the one nearest to its limit, or furthest beyond it
  Number quantile_err_tolerance = Number::missing("no output was judged by it");
  answer::OutputsVerdict verdict;  // cannot say: it sees no error there; not asked: nothing to compare with
  std::string verdict_because;     // of those two
  std::string unchecked_because;   // why nothing was compared, where a reference is missing
  bool needs_inputs = false;       // it cannot say because the inputs are generated
  std::string independence;        // why the reference is not independent of the case; empty: it is
  std::string refused_by;          // an engine that cannot run the file; empty: none that was asked
  // Unoptimised run of a quantised file, and how far the engine is from that.
  std::string engine_reference;
  bool engine_strays = false;  // beyond its limit
  Number engine_max_rel_err = Number::missing("the file was not run unoptimised");
  // Shares of the reference's outputs and of the file's weights that are subnormal: engines may flush them.
  Number subnormal_outputs = Number::missing("there is no reference");
  Number subnormal_weights = Number::missing("the reference did not read an ONNX file");
};

struct ExecutedPrecision {
  std::string precision;  // of the arithmetic
  double flops_share = 0;
  std::int64_t operators = 0;
  std::string weights{};  // their type where it is another; empty: the same, or not known
};
// Layers of one kind that did not run in the precision asked for, for one reason.
struct FloatLayers {
  std::string kind;            // convolution, matrix product
  std::string precision;       // that they ran in
  std::int64_t layers = 0;     // how many
  std::int64_t of = 0;         // layers of this kind in the model
  double flops_share = 0;      // of the whole model
  std::string first;           // the name of one of them
  std::string reason, advice;  // sentences without their full stop and with it; empty: not known
};
struct PrecisionReadBack {
  std::string asked;
  std::vector<ExecutedPrecision> executed;  // empty: the engine cannot tell
  std::string source;
  std::vector<FloatLayers> in_float{};  // by share; empty: none, or the engine does not name its layers
};

struct Quantile {
  double p = 0.5;
  Number value_ns;
  Number ci_low_ns;
  Number ci_high_ns;
  double confidence = 0.95;
  std::string ci_method;
  Number actual_coverage;
  Number n_eff;
};

// Statistics over all samples of all repetitions.
struct Stats {
  std::string clock = "host";
  std::int64_t n = 0;
  Number tau_x;
  Number min_ns, max_ns, median_ns, mean_ns, stddev_ns, mad_ns;
  std::string quantile_method = "nearest_rank; median = mean of the two middle values";
  std::vector<Quantile> quantiles;  // p50 p90 p95 p99
  Number highest_claimable_p;
};

// The case's headline: with six or more processes the interval is over the per-process medians.
struct Headline {
  std::string scope = kWithinProcess;
  Estimate p50_ns;
  Number within_spread;   // 1.4826 MAD / median inside a process, median over processes
  Number between_spread;  // 1.4826 MAD / median of the per-process medians
};

struct Throughput {
  std::string item = "images";
  Estimate per_s;
};

struct SpeedUp {
  std::string baseline_case_id;        // empty: no baseline in this plan
  Estimate ratio;                      // baseline time / this time; > 1 is faster
  std::int64_t pairs = 0;              // repetitions of both that ran as neighbours in time
  std::string scope = kWithinProcess;  // within process below six pairs, where no verdict may be drawn
  SpeedOfCase verdict;                 // no claim: see reason
  Number p_sign;
  std::int64_t pairs_apart = 0;  // repetitions of both that ran at other times and form no pairs
  std::string reason = {};       // why there is no verdict, in words
  std::string no_size = {};      // why the verdict is a direction without a ratio, in words
};

struct Memory {
  Count rss_before_load_bytes;
  Count shared_before_load_bytes;   // of these, pages of files, which instances have in common
  Count rss_peak_bytes;             // high-water mark of the worker; of instances the most at one moment
  Count rss_peak_above_load_bytes;  // the headline: model + activations + engine
  Count tensor_peak_bytes;          // the engine's own allocator, where it has one
  Count reserved_peak_bytes;        // what that held of a device's memory, with what it keeps for later
};

// How the file's numbers were made smaller; docs/engines.md, "Quantisation", explains the fields.
struct Quantisation {
  std::string precision;    // int8, fp16; empty: the file is as it was exported or given
  std::string activations;  // uint8, int8, float16
  std::string bias;         // int32, float32, float16
  std::string method;       // of the activations' ranges: minmax, percentile 99.99, entropy
  std::string calibration;  // data and engine, or the cache, in words
  Count weight_bits = Count::missing("not quantised");
  Count samples = Count::missing("not calibrated");
  Count layers = Count::missing("not quantised");  // convolutions and matrix products in this precision
  std::vector<std::string> float_layers;           // operators left in float, with why
  std::vector<std::string> excluded;               // of them, those that quantisation.exclude names
  std::vector<std::string> notes;                  // what a reader of the accuracy figures must know
};

// The file that the engine read.
struct ModelFile {
  std::string format;  // onnx, .pt, …; empty: the engine has the model itself
  Count size_bytes = Count::missing("the engine has the model itself");  // weights in a second file included
  Number prepare_ns = Number::missing(
      "nothing to prepare");  // exporting, quantising, building: once, before anything is timed
  Quantisation quantisation;
};

struct Flops {
  Number model_flops_per_item;
  std::string convention = "2 x MAC of convolutions and matrix products";
  Number achieved_flops_per_s;
  Number peak_measured_flops_per_s;
  std::string peak_source;  // "peak_conv fp32, 2 threads, measured 2026-11-21T…"
  Number peak_spread;       // of the best probe's repetitions: their interquartile range over the median
  Number share_of_measured_peak;
  // By the datasheet of the GPUs that the case ran on: dense, in its precision.
  Number peak_datasheet_flops_per_s = Number::missing("the case ran on no GPU");
  Number share_of_datasheet_peak = peak_datasheet_flops_per_s;
  // FLOPs of convolutions and matrix products over bytes of operands and results, each counted once.
  Number flops_per_byte = Number::missing("this engine does not report it");
  Number convolution_share = flops_per_byte;  // of the FLOPs; the rest is in matrix products
};

// How long one part of an inference on a device took, over all samples.
struct DevicePart {
  std::string name;  // enqueue (the host starts it) | h2d | compute | d2h
  std::int64_t n = 0;
  Number min_ns, mean_ns, p50_ns, p99_ns;
};

// How long one part of making a picture of image_dir an input took: once per picture, in no latency.
struct PicturePart {
  std::string name;    // decode | resize | normalise
  std::int64_t n = 0;  // pictures
  Number mean_ns;
  Estimate p50_ns;
};

struct Overhead {
  Number timer_resolution_ns, timer_cost_ns, timer_cost_p99_ns;
  Number harness_cost_ns;    // median of an empty body through the same loop
  Number overhead_fraction;  // harness cost / median latency; reported, never subtracted
  Number os_noise_frac;
  Number calibration_drift;  // |end/start - 1| of the harness cost
};

struct Noise {
  Number running_frac;  // of the time, in which our busiest thread had a CPU; of a repetition
  Number runq_wait_frac, nivcsw_per_s, steal_frac, psi_cpu_some, foreign_cpu_frac, freq_cv;
  Number core_mhz;  // mean clock of the fastest CPU; of a repetition
  Count cgroup_throttled;
  Number drift_frac, drift_z;
  Number device_drift_frac, device_drift_z;  // the same of times on the device's own clock
  Number tau_x;
  Number processes_z;  // how alike consecutive processes are (stats::succession_z)
  bool multimodal = false;
  struct Mode {
    double median_ns = 0;
    double share = 0;
  };
  std::vector<Mode> modes;
  std::string instrument;  // a profiler, debugger or other tool that watched the process; empty: none
  std::vector<std::string> warnings;  // in words; each explains the grade
};

struct Outliers {
  std::int64_t mild = 0;
  std::int64_t severe = 0;
  Number severe_time_share;
  Number median_excl_severe_ns;  // a sensitivity figure, never the headline
};

// The engine's own tool on the same file, its processes in turns with ours (docs/metrics.md, cross-check).
struct CrossCheck {
  bool asked = false;
  std::string tool;     // benchmark_app; empty: there is none, or none was found
  std::string version;  // of the library that the tool says it runs; empty: it says none
  std::string command;  // one of its processes
  Count iterations = Count::missing("no cross-check");     // timed iterations of a process, ours and theirs
  std::vector<double> ours_ns, theirs_ns;                  // medians of the processes; equal places are pairs
  Number ours_p50_ns = Number::missing("no cross-check");  // median over processes
  Number theirs_p50_ns = Number::missing("no cross-check");
  Estimate ratio{Number::missing("no cross-check"), {}, {}, 0.95, ""};  // ours / theirs
  SpeedOfTool verdict;
  std::string reason;              // why there is no ratio, or no claim, although it was asked for
  std::string log_tail;            // last lines of a tool that failed
  std::vector<std::string> notes;  // what a reader of the ratio must know
};

// A shape that the loaded model had not seen, after the timed loop: the inputs of each are bound in its time.
struct NewShape {
  std::string shape;  // "batch 4", "1x32", or by input: "ids:1x32, audio:1x512"
  Number first_ns, second_ns;
  friend bool operator==(const NewShape&, const NewShape&) = default;
};

// One fresh process of the case.
struct Repetition : WithPayload {
  std::int64_t index = 0;
  std::string started_utc;
  std::int64_t n = 0;
  Number p50_ns, mean_ns;
  Number first_iteration_ns;
  Number load_ns;           // engine load, from the start of load() to its return
  Number process_start_ns;  // from the start of the process to the first record
  std::string warmup_mode;
  std::int64_t warmup_iterations = 0;
  std::int64_t warmup_ns = 0;
  std::string steady_state;   // reached | not_reached | fixed
  std::int64_t mser_cut = 0;  // samples a post-hoc test would call warm-up; none is removed
  bool residual_warmup = false;
  Maybe<bool> converged;  // missing for fixed iteration counts
  std::string stop_reason;
  std::vector<std::string> unmet;
  std::int64_t elapsed_ns = 0;
  std::int64_t checks = 0;
  Number foreign_cpu_frac;
  Memory memory;
  Overhead overhead;
  Noise noise;
  // With this repetition of other cases, in turns of 50 ms.
  Maybe<bool> in_turns = Maybe<bool>::missing("its kind takes no turns");
  // Time of fixed work that no case changes: the median at the beginnings of its turns, else once at its end.
  Number control_ns;
  std::vector<NewShape> new_shapes{};  // in their order; empty: none was asked for
};

struct SamplesFile {
  std::string file;  // relative to the case's folder
  std::string format = "csv";
  std::vector<std::string> columns;
  std::string sha256;
};

// Its payload is over all repetitions.
struct CaseResult : WithPayload {
  std::string schema_version = kSchemaVersion;
  std::string case_id;
  std::string label;  // for people: "resnet50 eager fp32 b1"
  std::string run_id;
  Benchmark benchmark;
  Outcome outcome = Outcome::kOk;
  std::string reason;  // why not ok, in words
  // Empty, or the name of a row of result/judged/reasons.h.
  std::string reason_code;
  bool lacks_reference = false;  // it failed because its fp32 reference could not be made
  std::string log_tail;          // last lines of the worker's log when failed
  bool complete = false;         // every planned repetition is there
  std::int64_t repetitions_planned = 1;
  EndedBecause ended_because = EndedBecause::kPlanned;
  Grade grade = Grade::kA;
  std::vector<std::string> grade_reasons;
  Correctness correctness;
  PrecisionReadBack precision;
  Headline headline;
  Stats stats;
  Throughput throughput;
  std::optional<Scaling> scaling;          // where a training case has a base
  Estimate device_p50_ns;                  // like the headline, on the device's own clock
  std::vector<DevicePart> device_parts;    // where the engine has its own clock
  std::vector<PicturePart> picture_parts;  // where inputs are from image_dir
  std::string pictures_left_out;           // its files that are no inputs, in words; empty: none
  Estimate back_to_back_ns;                // pipelined: like the headline, which is missing there
  Number first_iteration_ns;               // median over repetitions
  Number load_ns;                          // median over repetitions
  SpeedUp speedup;
  ModelFile model_file;
  Memory memory;  // largest over repetitions
  Flops flops;
  Overhead overhead;                        // worst over repetitions
  Noise noise;                              // worst over repetitions; samples-based parts over all samples
  std::optional<TwoStates> two_states;      // of an inference whose times have more than one mode
  std::vector<Sampled> sampled;             // by samplers of plug-ins, over all repetitions
  std::vector<DeviceState> devices;         // made of the same readings
  std::vector<CpuPower> cpu_power;          // likewise
  std::optional<DevicePeaks> device_peaks;  // of what it ran on; of a CPU where both peaks are known
  Outliers outliers;
  CrossCheck cross_check;
  LayerProfile layer_profile;
  std::optional<OperatorProfile> operator_profile;  // where a training case was to be profiled
  std::vector<Repetition> repetitions;
  SamplesFile samples;
  std::map<std::string, std::string> effective_settings;  // as the engine reported them back
  // Every option of the case with its default.
  nlohmann::json config_effective = nlohmann::json::object();
  // From a file that was read: fields that this version does not know are kept.
  nlohmann::json unknown = nlohmann::json::object();
};

}  // namespace paceline::result
