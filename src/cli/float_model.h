// SPDX-License-Identifier: MIT
#pragma once
#include <string>

#include "cli/context.h"
#include "config/settings.h"
#include "plugin/engine.h"
#include "workload/pass.h"
#include "workload/records.h"

// The float model that `export` and `build` start from: --model with its weights, and what becomes of it.
namespace paceline::cli {

// A family as --model ("bert") becomes the folder of --weights.
void settle_model(config::Settings& options);

// A built-in model as --batch, --sequence-length, --weights say. Throws Error(kUsage) for files and unknown
// names.
plugin::ModelSpec model_spec(const config::Settings& options);

// --model is an ONNX file of the user's.
bool is_onnx_file(const config::Settings& options);

// Throws Error(kUsage) with an example when an option is not set.
std::string required(const config::Settings& options, const char* name, const char* example);

// The float model as an ONNX file, which goes when this does; a file of the user's stays.
class FloatFile {
 public:
  FloatFile(const config::Settings& options, const workload::ExportTo& to);
  ~FloatFile();
  FloatFile(const FloatFile&) = delete;
  FloatFile& operator=(const FloatFile&) = delete;
  [[nodiscard]] const plugin::ModelSpec& model() const { return model_; }

 private:
  plugin::ModelSpec model_;
  std::string written_;
};

// Writes the model again in the precision asked for (int8, fp16), as `engine` runs it; empty: any that reads
// ONNX.
workload::PreparedFile write_in_precision(const config::Settings& options, const plugin::ModelSpec& model,
                                          const std::string& engine, const std::string& file,
                                          const Console& console);

// ", 54 layers in int8 (…)", empty where nothing was quantised.
std::string quantisation_text(const result::Quantisation& q);

}  // namespace paceline::cli
