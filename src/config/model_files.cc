// SPDX-License-Identifier: MIT
// Finds the engines that model files imply.
#include <fmt/format.h>

#include <algorithm>
#include <string>

#include "config/engine_of_model.h"
#include "config/settings_builder.h"
#include "config/vocabulary.h"

namespace paceline::config {
namespace {

const RawSetting* written(std::span<const RawSetting> raw, std::string_view name) {
  const auto found =
      std::find_if(raw.rbegin(), raw.rend(), [&](const RawSetting& setting) { return setting.name == name; });
  return found == raw.rend() ? nullptr : &*found;
}

// The engine that a file implies; empty for names and for files that the default engine runs.
std::string implied_engine(const std::string& name) {
  const FileType* type = find_model(name) ? nullptr : find_file_type(name);
  return type ? std::string(type->engine) : std::string();
}

void engines_of_models(Settings& settings) {
  const auto names = settings.texts("models");
  const auto engine = names.empty() ? std::string() : implied_engine(names.front());
  const bool same = std::all_of(names.begin(), names.end(),
                                [&](const std::string& name) { return implied_engine(name) == engine; });
  if (!same) settings.set("engines", std::string(kEngineOfModel));
  if (same && !engine.empty()) settings.set("engines", engine);
}

bool takes(const Engine& engine, const std::string& model) {
  const FileType* type = find_model(model) ? nullptr : find_file_type(model);
  return !type || std::ranges::find(type->readers, engine.name) != type->readers.end();
}

// In the order of the vocabulary, which begins with the baseline.
void name_every_engine(Settings& settings) {
  const auto models = settings.texts("models");
  std::vector<Value> names;
  for (const auto& engine : engines())
    if (std::ranges::any_of(models, [&](const auto& model) { return takes(engine, model); }))
      names.emplace_back(std::string(engine.name));
  if (!names.empty()) settings.set_list("engines", std::move(names));
}

}  // namespace

std::string engine_of_model(const std::string& model) {
  const std::string engine = implied_engine(model);
  return engine.empty() ? "eager" : engine;
}

void imply_engines(Settings& settings, std::span<const RawSetting> raw, std::vector<Diagnostic>& problems) {
  if (!settings.has("engines")) return;
  const RawSetting* engines = written(raw, "engines");
  if (!engines) return engines_of_models(settings);
  const auto names = settings.texts("engines");
  const auto is_file = [](const std::string& name) { return !implied_engine(name).empty(); };
  const auto place = engines->values.empty() ? engines->place : engines->values.front().place;
  if (std::ranges::find(names, kEveryEngine) != names.end()) {
    if (names.size() > 1)
      return problems.push_back(diagnostic(
          place, "'all' cannot be combined with other engines; it is every engine that takes the model"));
    return name_every_engine(settings);
  }
  if (std::none_of(names.begin(), names.end(), is_file)) return;
  if (written(raw, "models"))
    return problems.push_back(diagnostic(
        place, fmt::format("engine '{}' is a model file; give it as the model, or leave the model out",
                           *std::find_if(names.begin(), names.end(), is_file))));
  settings.set("models", *std::find_if(names.begin(), names.end(), is_file));
  if (names.size() > 1)
    return problems.push_back(diagnostic(
        place, "a model file as the engine must be the only one; give files as models to compare them"));
  settings.set("engines", implied_engine(names.front()));
}

}  // namespace paceline::config
