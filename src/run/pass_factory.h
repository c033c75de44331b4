// SPDX-License-Identifier: MIT
#pragma once
#include <cstdint>
#include <filesystem>
#include <string>

#include "config/plan.h"
#include "result/case_result.h"
#include "run/plugin_choice.h"
#include "stats/stop_rule.h"
#include "workload/inference/inputs.h"
#include "workload/pass.h"

// From the settings of a case to what a worker needs. Pure but for the shapes it looks up.
namespace paceline::run {

// Identity and settings of a case, before anything ran.
result::CaseResult new_case_result(const config::Case& c, const std::string& run_id);

// The timed pass of a case but for its files, repetition and pinning. threads 0 means `default_threads`.
workload::PassSpec base_pass(const config::Case& c, int default_threads);

// The check pass of a case but for its files: at the batch that the timed pass loads the model for.
workload::PassSpec check_pass(const workload::PassSpec& base);

// What inputs the case's passes read, and what makes two cases share them.
workload::InputRequest input_request(const config::Case& c, const workload::PassSpec& pass);
std::string input_key(const config::Case& c, const workload::PassSpec& pass);
std::string request_key(const workload::InputRequest& request);

// What the case is checked against; one of these is set.
struct ReferenceChoice {
  std::string engine{};      // its fp32 run of the case's model
  std::string file{};        // expected outputs
  std::string model_file{};  // the fp32 run of another model
};
ReferenceChoice reference_choice(const config::Case& c);

// The pass whose outputs the case is checked against: FP32, by the engine named, same weights and inputs; for
// a model file its own unoptimised FP32 run.
workload::PassSpec reference_pass(const workload::PassSpec& base, const std::string& engine = "eager");
std::string reference_name(const workload::PassSpec& pass, const std::string& engine);  // in words
// The engine that makes the reference of a file that eager does not read: the first of its readers that is
// here and can be asked for fp32; "eager" when none is.
std::string file_reference_engine(const EngineDirectory& engines, const std::string& file);
// The same of another model file with the case's inputs, by an engine that reads it.
workload::PassSpec file_reference_pass(const workload::PassSpec& base, const std::string& file,
                                       const std::string& engine);
// The first engine that reads such files and is here; where none is, the first that could.
std::string reader_of(const EngineDirectory& engines, const std::string& file);
std::string reference_key(const workload::PassSpec& reference);

// For the outputs after the timed loop: where the answers decided, the errors may be twice those that passed
// the check.
workload::Tolerance timed_tolerance(const workload::Tolerance& tolerance, const result::Correctness& checked);

// The pass that times the case's layers.
workload::PassSpec profile_pass(const config::Case& c, const workload::PassSpec& base);

// The stop rule as the options stop.* have it.
stats::StopConfig stop_config(const config::Settings& s);

std::int64_t repetitions_of(const config::Case& c);
double timeout_of(const config::Case& c);

// Items (images, sequences) one iteration completes, and their name.
double items_per_iteration(const config::Case& c);
std::string item_name(const config::Case& c);

}  // namespace paceline::run
