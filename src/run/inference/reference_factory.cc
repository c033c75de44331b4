// SPDX-License-Identifier: MIT
#include "run/inference/reference_factory.h"

#include <fmt/format.h>

#include "config/vocabulary.h"
#include "run/case/short_hash.h"

namespace paceline::run {

ReferenceChoice reference_choice(const config::Case& c) {
  const std::string& named = c.settings.text("accuracy.reference");
  if (named.ends_with(".npy") || named.ends_with(".npz")) return {.file = named};
  if (config::find_file_type(named) || config::find_model(named)) return {.model = named};
  return {.engine = named};
}

pass::PassSpec reference_pass(const pass::PassSpec& base, const std::string& engine) {
  pass::PassSpec pass = base;
  pass.kind = pass::PassKind::kReference;
  pass.use(plugin::Role::kEngine, engine);
  pass.settings.precision = "fp32";
  pass.settings.precision_of_file = false;  // integer weights are multiplied in float
  pass.settings.layout = "contiguous";
  pass.settings.options.clear();
  if (engine == "onnxruntime") pass.settings.options["graph_optimization"] = "disabled";
  return pass;
}

bool runs_same_code(const pass::PassSpec& pass, const pass::PassSpec& reference) {
  const auto device = [](const pass::PassSpec& spec) {
    const auto it = spec.settings.options.find("device");
    return it == spec.settings.options.end() ? std::string("cpu") : it->second;
  };
  return pass.engine() == reference.engine() && device(pass) == device(reference);
}

std::string reference_name(const pass::PassSpec& pass, const std::string& engine) {
  const bool elsewhere = pass.settings.options.contains("device");
  const std::string where = elsewhere ? " on the CPU" : "";
  if (pass.model.file.empty()) return fmt::format("{} fp32{}, same weights and inputs", engine, where);
  if (engine == "eager") return fmt::format("the file's own unoptimised fp32 run{}", where);
  return fmt::format("the file's own {} run in {}{}", engine == "onnxruntime" ? "unoptimised" : "fp32",
                     engine, where);
}

std::string other_reader(const EngineDirectory& engines, const std::string& file, const std::string& engine) {
  const auto* type = config::find_file_type(file);
  const auto* mine = config::find_engine(engine);
  if (!type || !mine) return {};
  for (const auto& reader : type->readers) {
    const auto* other = config::find_engine(reader);
    if (other && other->plugin != mine->plugin && !engines.find(reader).file.empty()) return reader;
  }
  return {};
}

std::string file_reference_engine(const EngineDirectory& engines, const std::string& file) {
  const auto* type = config::find_file_type(file);
  if (!type) return "eager";
  for (const auto& reader : type->readers) {
    const auto* engine = config::find_engine(reader);
    const bool takes_precision = engine && !engine->reads.empty() && !engine->built;
    if (takes_precision && !engines.find(reader).file.empty()) return reader;
  }
  return "eager";
}

pass::PassSpec model_reference_pass(const pass::PassSpec& base, const std::string& model,
                                    const std::string& engine) {
  pass::PassSpec pass = reference_pass(base, engine);
  pass.model.name.clear();
  pass.model.file.clear();
  if (config::find_model(model)) {
    pass.model.name = model;
    return pass;
  }
  pass.model.weights_file.clear();
  pass.model.file = model;
  return pass;
}

std::string reader_of(const EngineDirectory& engines, const std::string& model) {
  const auto* type = config::find_file_type(model);
  if (config::find_model(model)) return "eager";
  if (!type || type->readers.empty()) return {};
  for (const auto& reader : type->readers)
    if (!engines.find(reader).file.empty()) return reader;
  return type->readers.front();
}

std::string reference_key(const pass::PassSpec& reference) {
  return short_hash({reference.engine(), reference.model.name, reference.model.file,
                     reference.model.weights_file, reference.model.weights_seed,
                     reference.inference.input_files, reference.batch, reference.inference.samples,
                     reference.inference.accuracy.least_samples, reference.inference.accuracy.every_change});
}

}  // namespace paceline::run
