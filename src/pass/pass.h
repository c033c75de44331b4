// SPDX-License-Identifier: MIT
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/json.h"
#include "measure/timed_loop.h"
#include "pass/collective_spec.h"
#include "pass/inference_spec.h"
#include "pass/input_request.h"
#include "pass/model_file_spec.h"
#include "pass/rank_spec.h"
#include "pass/train_spec.h"
#include "plugin/capability.h"
#include "plugin/engine.h"

// A pass is what one worker process does; it travels to the worker as JSON.
namespace paceline::pass {

enum class PassKind {
  kDescribe,      // load the plug-in, say what it is (paceline validate)
  kInspect,       // say which inputs a model file has
  kInputs,        // make the inputs of cases, or of a calibration, as files
  kExpected,      // the outputs that a user's file expects, as a reference file
  kReference,     // run the sample inputs, write the outputs others are checked against
  kCheck,         // compare outputs with the reference, read back the executed precision; untimed
  kTimed,         // nothing but the loop
  kExport,        // write a built-in model as a file that other engines read
  kQuantise,      // write an ONNX file again in another precision, calibrating where needed
  kBuild,         // compile an ONNX file into a file of one engine's own
  kProfile,       // time every layer under the engine's profiler
  kTrain,         // one rank of a training run: its steps, timed
  kTrainProfile,  // the same, a few steps; rank 0 under the profiler
  kCollective,    // one rank of a sweep of collectives, timed
  kPeaks,         // measure what the device does at best
  kIdle,          // read the meters for a moment, before the first worker of the run
  kStore,         // keeps the store of a launch open (run/ranks/store_process.h)
};

enum class OnTermination { kEnds, kReportsSteps, kStays };  // what its worker does at SIGTERM and SIGHUP
// Traits of a kind of pass for those who start it. One row per kind, in the order of the enumeration.
struct PassTraits {
  PassKind kind;
  std::string_view name;
  bool timed = false;       // a repetition of its case comes of it
  bool by_ranks = false;    // world_size processes run it together
  bool background = false;  // nobody times it: waiting threads sleep instead of spinning
  OnTermination on_termination = OnTermination::kEnds;
};
inline constexpr std::array<PassTraits, 17> kPassKinds{{
    {PassKind::kDescribe, "describe"},
    {PassKind::kInspect, "inspect"},
    {PassKind::kInputs, "inputs"},
    {PassKind::kExpected, "expected"},
    {PassKind::kReference, "reference", false, false, true},
    {PassKind::kCheck, "check"},
    {PassKind::kTimed, "timed", true},
    {PassKind::kExport, "export", false, false, true},
    {PassKind::kQuantise, "quantise"},
    {PassKind::kBuild, "build"},
    {PassKind::kProfile, "profile"},
    {PassKind::kTrain, "train", true, true, false, OnTermination::kReportsSteps},
    {PassKind::kTrainProfile, "train_profile", false, true},
    {PassKind::kCollective, "collective", true, true},
    {PassKind::kPeaks, "peaks"},
    {PassKind::kIdle, "idle"},
    // A scheduler signals every process of a job; the store is needed until the last has ended.
    {PassKind::kStore, "store", false, false, false, OnTermination::kStays},
}};
constexpr const PassTraits& traits_of(PassKind kind) {
  return kPassKinds.at(static_cast<std::size_t>(kind));
}
inline std::string pass_kind_name(PassKind kind) {
  return std::string(traits_of(kind).name);
}

// A plug-in that a worker loads, and what is asked of it.
struct PluginUse {
  plugin::Role role = plugin::Role::kEngine;
  std::string name;  // of a capability of this role
  std::string file;
  std::map<std::string, std::string> options{};
};

// Task of a profile pass, in which the engine times its layers.
struct ProfileLayers {
  static constexpr const char* kField = "profile_layers";
  int inferences = 1;
};

// Task that only passes of one kind have, each as the field T::kField; none if the common part suffices.
using Task = std::variant<std::monostate, ExportTo, QuantiseTo, BuildTo, InputsTo, ExpectedTo, ProfileLayers,
                          CollectiveSpec, TrainSpec>;

struct PassSpec {
  PassKind kind = PassKind::kTimed;
  std::string case_id;
  std::int64_t repetition = 0;
  std::int64_t rank = 0;
  std::int64_t world_size = 1;
  std::vector<PluginUse> plugins;
  std::vector<std::string> load_libraries;  // shared objects that are loaded after the engine's plug-in
  plugin::ModelSpec model;                  // input shapes at the batch size of the case
  plugin::EngineSettings settings;
  std::int64_t batch = 1;
  measure::LoopConfig loop;
  std::vector<int> pin_cpus;  // empty: not pinned
  InferenceSpec inference;    // of the passes of an inference case
  Task task;
  RankSpec ranks;          // of a pass by ranks
  std::string table_file;  // where rank 0 writes tables that are too large for records; empty: nowhere
  // Where the worker lists the shared objects that it ran in the end; empty: nowhere.
  std::string objects_file;

  // Takes the place of the plug-in of this role, where there is one.
  void use(plugin::Role role, const std::string& name, const std::string& file = {});
  [[nodiscard]] bool uses(plugin::Role role) const;
  // The first of this role. Throws Error(kInternal) where there is none.
  [[nodiscard]] const PluginUse& plugin(plugin::Role role) const;
  // Name of the engine; empty: there is none.
  [[nodiscard]] std::string engine() const;
};

nlohmann::json to_json(const PassSpec& spec);
// Throws Error(kInternal): a spec is made by this program.
PassSpec pass_from_json(const nlohmann::json& json);

}  // namespace paceline::pass
