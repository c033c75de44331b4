// SPDX-License-Identifier: MIT
#pragma once
#include <string>

#include "config/plan.h"
#include "pass/pass.h"
#include "run/case/plugin_choice.h"

// References for the outputs of a case. Pure.
namespace paceline::run {

// One of these is set.
struct ReferenceChoice {
  std::string engine{};  // its fp32 run of the case's model
  std::string file{};    // expected outputs
  std::string model{};   // the fp32 run of another model: a file or a built-in one
};
ReferenceChoice reference_choice(const config::Case& c);

// The pass whose outputs the case is checked against: FP32, by the engine named, same weights and inputs; for
// a model file its own unoptimised FP32 run.
pass::PassSpec reference_pass(const pass::PassSpec& base, const std::string& engine = "eager");
// Whether the reference says nothing about the case's engine: the same one made it, on the same device.
bool runs_same_code(const pass::PassSpec& pass, const pass::PassSpec& reference);
std::string reference_name(const pass::PassSpec& pass, const std::string& engine);  // in words
// An engine of another library than `engine` that reads the file and is here; empty: none.
std::string other_reader(const EngineDirectory& engines, const std::string& file, const std::string& engine);
// Runs another model on the case's inputs, a file or a built-in one, by an engine that reads it.
pass::PassSpec model_reference_pass(const pass::PassSpec& base, const std::string& model,
                                    const std::string& engine);

// The engine that makes the reference of a file that eager does not read: the first of its readers that is
// here and can be asked for fp32; "eager" when none is.
std::string file_reference_engine(const EngineDirectory& engines, const std::string& file);
// The first engine that reads such files and is here; where none is, the first that could. "eager" for a
// built-in model.
std::string reader_of(const EngineDirectory& engines, const std::string& model);

// A name for the outputs: equal for cases that share them.
std::string reference_key(const pass::PassSpec& reference);

}  // namespace paceline::run
