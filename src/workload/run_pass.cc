// SPDX-License-Identifier: MIT
#include "workload/run_pass.h"

#include <array>

#include "base/file.h"
#include "host/machine/loaded_objects.h"
#include "plugin/registry.h"
#include "workload/collective/collective_pass.h"
#include "workload/inference/inference_pass.h"
#include "workload/inference/instances.h"
#include "workload/inference/load_pass.h"
#include "workload/inference/profile_pass.h"
#include "workload/pass_records.h"
#include "workload/prepare/passes.h"
#include "workload/store_pass.h"
#include "workload/training/passes.h"

namespace paceline::workload {
namespace {

using pass::PassKind;
using pass::PassSpec;
using pass::RecordSink;
using Interrupt = std::atomic<bool>;
using RunPass = void (*)(const PassSpec&, RecordSink&, const Interrupt&);

// Wraps a pass that is too short to be interrupted.
template <auto kRun>
void brief(const PassSpec& spec, RecordSink& sink, const Interrupt&) {
  kRun(spec, sink);
}

// Wraps such a pass that has every record tagged.
template <auto kRun>
void tagged(const PassSpec& spec, RecordSink& raw, const Interrupt&) {
  TaggedSink sink(raw, spec);
  kRun(spec, sink);
}

void run_timed_pass(const PassSpec& spec, RecordSink& raw, const Interrupt& interrupt) {
  if (spec.inference.load.instance >= 0) return serve_as_instance(spec, raw);
  if (spec.inference.load.instances > 1) return run_on_instances(spec, raw, interrupt);
  TaggedSink sink(raw, spec);
  if (!traits_of(spec.inference.load.scenario).one_at_a_time) return run_load_pass(spec, sink, interrupt);
  run_timed(spec, sink, interrupt);
}

// The engine's plug-in brings what they are linked with.
void load_libraries(const PassSpec& spec) {
  if (spec.load_libraries.empty() || spec.engine().empty()) return;
  const auto& file = spec.plugin(plugin::Role::kEngine).file;
  if (file.empty()) return;
  const plugin::LoadedPlugin plugin(file);
  for (const auto& library : spec.load_libraries) plugin::load_library(library, file);
}

struct PassRow {
  PassKind kind;
  RunPass run;
};
constexpr std::array<PassRow, pass::kPassKinds.size()> kPasses{{
    {PassKind::kDescribe, tagged<run_describe>},
    {PassKind::kInspect, tagged<run_inspect>},
    {PassKind::kInputs, brief<make_input_files>},
    {PassKind::kExpected, brief<make_expected_file>},
    {PassKind::kReference, tagged<run_reference>},
    {PassKind::kCheck, tagged<run_check>},
    {PassKind::kTimed, run_timed_pass},
    {PassKind::kExport, brief<export_model>},
    {PassKind::kQuantise, quantise_model},
    {PassKind::kBuild, brief<build_engine_file>},
    {PassKind::kProfile, tagged<run_profile_pass>},
    {PassKind::kTrain, run_training_pass},
    {PassKind::kTrainProfile, run_training_profile},
    {PassKind::kCollective, run_collective_pass},
    {PassKind::kPeaks, brief<measure_peaks>},
    {PassKind::kIdle, brief<measure_idle>},
    {PassKind::kStore, [](const PassSpec& spec, RecordSink&, const Interrupt&) { serve_store(spec); }},
}};
static_assert([] {
  for (std::size_t i = 0; i < kPasses.size(); ++i)
    if (kPasses.at(i).kind != pass::kPassKinds.at(i).kind) return false;
  return true;
}());

}  // namespace

void run_pass(const PassSpec& spec, RecordSink& sink, const Interrupt& interrupt) {
  load_libraries(spec);
  kPasses.at(static_cast<std::size_t>(spec.kind)).run(spec, sink, interrupt);
  if (!spec.objects_file.empty()) replace_file(spec.objects_file, host::loaded_objects().dump());
}

}  // namespace paceline::workload
