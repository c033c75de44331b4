// SPDX-License-Identifier: MIT
#pragma once
#include <string>

#include "cli/context.h"
#include "config/settings.h"
#include "pass/model_file_spec.h"
#include "pass/records.h"
#include "plugin/engine.h"

// The float model that `export` and `build` start from: --model with its weights.
namespace paceline::cli {

// Replaces a family in --model ("bert") by the folder of --weights.
void settle_model(config::Settings& options);

// The built-in model of --batch, --sequence-length, --weights. Throws Error(kUsage) for files and unknown
// names.
plugin::ModelSpec model_spec(const config::Settings& options);

// Whether --model is an ONNX file of the user.
bool is_onnx_file(const config::Settings& options);

// Throws Error(kUsage) with an example when an option is not set.
std::string required(const config::Settings& options, const char* name, const char* example);

// The float model as an ONNX file. A temporary one is removed with this object; a file of the user stays.
class FloatFile {
 public:
  FloatFile(const config::Settings& options, const pass::ExportTo& to);
  ~FloatFile();
  FloatFile(const FloatFile&) = delete;
  FloatFile& operator=(const FloatFile&) = delete;
  [[nodiscard]] const plugin::ModelSpec& model() const { return model_; }

 private:
  plugin::ModelSpec model_;
  std::string written_;
};

// Writes the model in the precision asked for (int8, fp16), for `engine`; empty: for any that reads ONNX.
pass::PreparedFile write_in_precision(const config::Settings& options, const plugin::ModelSpec& model,
                                      const std::string& engine, const std::string& file,
                                      const Console& console);

// ", 54 layers in int8 (…)", empty where nothing was quantised.
std::string quantisation_text(const result::Quantisation& q);

}  // namespace paceline::cli
