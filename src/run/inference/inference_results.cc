// SPDX-License-Identifier: MIT
#include "run/inference/inference_results.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "base/file.h"
#include "base/own_environment.h"
#include "config/precision_table.h"
#include "host/machine/cpu.h"
#include "pass/derived_spec.h"
#include "result/figures/two_states.h"
#include "result/judged/reference.h"
#include "result/stored/executed_precision.h"
#include "result/stored/layers.h"
#include "run/artefacts/quantised_files.h"
#include "run/case/case_settings.h"
#include "run/case/model_parts.h"
#include "run/inference/case_memory.h"
#include "run/inference/inference_time.h"
#include "run/inference/pass_factory.h"
#include "run/inference/peak.h"
#include "run/inference/recorded_schedule.h"

namespace paceline::run {
namespace {

std::string executed_text(const result::PrecisionReadBack& p) {
  std::string text;
  for (const auto& e : p.executed)
    text += fmt::format("{}{:.0f} % {} ({} operators)", text.empty() ? "" : ", ", e.flops_share * 100,
                        result::executed_text(e), e.operators);
  return text;
}

// Takes what the check pass read back from the engine.
void take_readings(CaseRun& run, const pass::PassReport& report) {
  const auto& check = report.get<pass::CheckReport>();
  run.result.correctness = report.correctness;
  run.result.precision = check.precision;
  // Where a file's own precision is asked for, what ran is the case's, whatever the check finds.
  const std::string ran = pass::dominant_precision(check.precision);
  if (!ran.empty() && run.definition.settings.text("precision") == config::kPrecisionOfFile)
    run.result.benchmark.precision = ran;
  run.result.precision.asked = run.definition.settings.text("precision");
  if (check.tensor_peak_bytes) run.result.memory.tensor_peak_bytes = check.tensor_peak_bytes;
  run.result.memory.reserved_peak_bytes = check.reserved_peak_bytes;
  if (!run.result.flops.model_flops_per_item && check.flops_per_item) {
    run.result.flops.model_flops_per_item = check.flops_per_item;
    run.result.flops.convention =
        "counted by the engine in one inference; 2 x MAC of convolutions and matrix products";
  }
  run.result.flops.flops_per_byte = check.flops_per_byte;
  if (check.convolution_share) run.result.flops.convolution_share = check.convolution_share;
  run.result.effective_settings.clear();
  take_description(run, report);
}

// An executed precision other than the one asked for ends the case.
void judge_precision(CaseRun& run) {
  const std::string ran = pass::dominant_precision(run.result.precision),
                    asked = arithmetic_of(run.result.benchmark.precision);
  if (!ran.empty() && ran != asked && !run.definition.settings.flag("allow_precision_fallback"))
    end_case(run, "precision",
             fmt::format("asked {}, ran {} ({}); --allow-precision-fallback keeps such a case, marked", asked,
                         executed_text(run.result.precision), run.result.precision.source));
}

class InferenceRules : public KindRules {
 public:
  [[nodiscard]] std::string device(const config::Case& c) const override {
    const auto device = device_of(c.settings);
    return instances_per_device(c.settings) > 0 ? std::string(kind_name(device.kind)) : device_name(device);
  }
  [[nodiscard]] std::string schedule(const config::Case& c) const override {
    const auto recorded = recorded_schedule(c.settings);
    return recorded ? recorded->digest : "";
  }
  [[nodiscard]] double items_per_iteration(const config::Case& c) const override {
    return static_cast<double>(c.settings.integer("batch"));
  }
  [[nodiscard]] double timeout_s(const config::Case& c) const override { return timeout_of(c); }
  [[nodiscard]] double seconds(const config::Case& c, const Pace& pace) const override {
    return inference_seconds(c, pace);
  }
  [[nodiscard]] Outlook outlook(const config::Case& c, const EngineDirectory&, int) const override {
    static const MemoryHere kHere = memory_here();  // of all cases of a --dry-run
    return {.fails = memory_obstacle(c, kHere)};
  }
  std::vector<result::Sample> take(CaseRun& run, result::Repetition& repetition,
                                   pass::PassReport& report) const override {
    // The check pass measured them.
    repetition.memory.tensor_peak_bytes = run.result.memory.tensor_peak_bytes;
    repetition.memory.reserved_peak_bytes = run.result.memory.reserved_peak_bytes;
    return report.samples;
  }
  void summarize(CaseRun& run) const override {
    run.result.two_states = result::two_states(run.result, run.samples, run.sampled);
  }
  [[nodiscard]] Waiting waiting(const CaseRun& c) const override {
    if (!traits_of(c.result.benchmark.scenario).one_at_a_time) return {"it measures a load"};
    if (device_of(c.definition.settings).kind != DeviceKind::kCpu) return {"it runs on a device"};
    if (c.base.inference.gap_ns != pass::kNoGap) return {"it sleeps between inferences"};
    if (!c.base.inference.new_shapes.empty()) return {"it runs new shapes after its loop"};
    // Measured: wider intervals than one process after the other.
    if (c.base.settings.threads != 1) return {"it has several threads, whose times vary more in turns"};
    if (c.base.uses(plugin::Role::kSampler)) return {"a sampler reads what it uses"};
    return {{}, ample_bytes(c)};
  }
  [[nodiscard]] bool has_check() const override { return true; }
};

}  // namespace

const KindRules& inference_rules() {
  static const InferenceRules kRules;
  return kRules;
}

void apply_model_file(CaseRun& run, const std::string& file, const pass::PreparedFile& prepared) {
  run.model_file = file;
  run.result.model_file = {prepared.format, prepared.size_bytes, prepared.duration_ns, prepared.quantisation};
}

void describe_given_file(CaseRun& run) {
  const std::filesystem::path file = run.base.model.file;
  std::error_code error;
  if (file.empty() || !std::filesystem::exists(file, error)) return;
  run.result.model_file.format = file.extension().string();
  run.result.model_file.size_bytes = size_of_parts(file.string());
}

namespace {

// OpenVINO's products are oneDNN's; ONNX Runtime has its own.
std::string isa_limit(const CaseRun& run) {
  if (run.base.engine() != "openvino") return {};
  auto variables = own_environment();
  for (const auto& [name, value] : run.definition.env) variables[name] = value;
  for (const char* name : {"ONEDNN_MAX_CPU_ISA", "DNNL_MAX_CPU_ISA"})
    if (variables.contains(name)) return variables[name];
  return {};
}

// Known of ONNX Runtime and OpenVINO. Not the cause where the engine agrees with the unoptimised run.
std::string saturation_text(const CaseRun& run) {
  const auto& check = run.result.correctness;
  if (!check.engine_reference.empty() && !check.engine_strays) return {};
  const auto& executed = run.result.precision.executed;
  const bool int8 = std::ranges::any_of(executed, [](const auto& e) { return e.precision == "int8"; });
  const bool known = run.base.engine() == "onnxruntime" || run.base.engine() == "openvino";
  const auto& bits = run.result.model_file.quantisation.weight_bits;
  if (!known || !int8 || (bits && *bits < 8) || !products_saturate(host::read_cpu(), isa_limit(run)))
    return {};
  return "; this CPU has no VNNI, so sums of two 8-bit products saturate: use 7-bit weights (--precision "
         "int8 "
         "on the float file makes them here)";
}

// Libraries with OpenMP obey it, others do not.
std::string thread_limit_text() {
  const auto variables = own_environment();
  const auto limit = variables.find("OMP_THREAD_LIMIT");
  return limit == variables.end() ? "" : fmt::format(" (OMP_THREAD_LIMIT is {})", limit->second);
}

}  // namespace

void apply_check(CaseRun& run, const pass::PassReport& report) {
  take_readings(run, report);
  if (result::is_wrong(report.correctness))
    return end_case(
        run, "accuracy",
        fmt::format("accuracy: {}{} (against {}, {} inputs)", report.correctness.detail, saturation_text(run),
                    report.correctness.reference, report.correctness.samples));
  if (const auto it = report.effective_settings.find("threads");
      it != report.effective_settings.end() && it->second != fmt::format("{}", run.base.settings.threads))
    return end_case(run, "threads",
                    fmt::format("asked for {} threads, the engine runs with {}{}", run.base.settings.threads,
                                it->second, thread_limit_text()));
  judge_precision(run);
}

bool asks_layer_profile(const CaseRun& run) {
  return run.definition.settings.has("layer_profile") && run.definition.settings.flag("layer_profile");
}

process::WorkerOutcome not_prepared() {
  process::WorkerOutcome outcome;
  outcome.reason = "the case was finished before this --resume; measure it again with --only";
  return outcome;
}

void apply_layer_profile(CaseRun& run, const process::WorkerOutcome& outcome) {
  auto& profile = run.result.layer_profile;
  if (!outcome.ok) {
    profile = {};
    profile.asked = true;
    profile.reason = outcome.reason;
    return;
  }
  const auto& measured = outcome.report.get<pass::LayerReport>();
  auto rows = measured.layers;
  const bool alone = !run.result.load();
  profile = result::summarize_layers(
      rows, alone ? run.result.headline.p50_ns.value
                  : Number::missing("latencies here hold more than one inference (scenario)"));
  profile.source = measured.source;
  profile.statistic = "median";
  profile.inferences = measured.inferences;
  profile.file = "layers.csv";
  replace_file(run.dir / profile.file, result::layers_to_csv(rows));
}

}  // namespace paceline::run
