// SPDX-License-Identifier: MIT
#pragma once
#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/declared_engine.h"
#include "base/tensor.h"
#include "config/model.h"
#include "config/precision.h"

// The names this tool knows: models, engines, precisions.
namespace paceline::config {

struct Engine {
  std::string_view name;
  std::string_view plugin;  // which plug-in brings it
  std::string_view meaning;
  std::string_view reads{};  // the format it reads a built-in model in; empty: it has the models itself
  bool built = false;        // a file for this engine alone is made out of that one, for the shapes of a case
};

// A suffix that makes a model or engine name a file.
struct FileType {
  std::string suffix;
  std::string engine;                // the engine it implies; empty: none
  std::vector<std::string> readers;  // engines that read it
};

std::span<const Model> models();
std::span<const Engine> engines();
std::span<const Precision> precisions();
// Replaces what plug-ins declared before.
void use_declared_engines(std::vector<DeclaredEngine> engines);
std::span<const DeclaredEngine> declared_engines();
std::span<const FileType> file_types();

// A built-in model, or a folder that read_folder_model (folder_models.h) has read under this name.
const Model* find_model(std::string_view name);
// Name of one item of the model's iterations: images, sequences; "items" for a model file.
std::string item_of_model(std::string_view model);
const Engine* find_engine(std::string_view name);
const DeclaredEngine* find_declared_engine(std::string_view name);
const Precision* find_precision(std::string_view name);
const FileType* find_file_type(std::string_view path);

// Full shapes of a built-in model's inputs, batch in dimension 0. sequence_length is ignored by models
// without one.
std::vector<TensorSpec> model_inputs(const Model& model, std::int64_t batch, std::int64_t sequence_length);

const Tolerance& tolerance(const Precision& precision, Task task);

}  // namespace paceline::config
