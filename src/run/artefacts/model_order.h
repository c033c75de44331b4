// SPDX-License-Identifier: MIT
// Models as files for the commands `export` and `build`.
#pragma once
#include <atomic>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "base/scratch_folder.h"
#include "config/settings.h"
#include "pass/model_file_spec.h"
#include "run/artefacts/engine_build.h"
#include "run/artefacts/stages.h"
#include "run/case/plugin_choice.h"

namespace paceline::run {

// The built-in model of --batch, --sequence-length, --weights. Throws Error(kUsage) for files and unknown
// names.
plugin::ModelSpec built_in_model(const config::Settings& s);

// True if --model is an ONNX file of the user.
bool is_onnx_file(const config::Settings& s);

// The file that `build` compiles: ONNX in the precision asked for, or TorchScript.
struct BuildSource {
  std::string file;
  std::vector<TensorSpec> inputs{};  // of TorchScript
  result::Quantisation quantisation{};
};

// True if the engine takes packages, which are made of TorchScript.
bool makes_package(const config::Settings& s);

// Throws Error(kUsage) for a device that the engine does not build on, and for shapes that do not fit the
// file.
BuildOrder ordered_build(const config::Settings& s, const BuildSource& source,
                         const std::filesystem::path& output);

// The model of a command on its way to a file. Every step throws Error with the reason.
class ModelOrder {
 public:
  // `folder`: where files in between lie; it exists once there are some, and goes with this. The rest
  // outlives this.
  ModelOrder(const EngineDirectory& engines, const config::Settings& settings, std::filesystem::path folder,
             const std::atomic<bool>& interrupt);

  // The model as `to.file`.
  pass::PreparedFile exported(const plugin::ModelSpec& built_in, const pass::ExportTo& to);
  // The float model as an ONNX file: the user's own, or one in the folder that is called after `to.file`.
  plugin::ModelSpec float_model(const pass::ExportTo& to);
  // That file in the precision of the settings, for `engine`; empty: for any that reads ONNX. With
  // int8_sensitivity the study lies in FILE.sensitivity.json; calibration stays only where calib_cache says.
  pass::PreparedFile in_precision(const plugin::ModelSpec& model, const std::string& engine,
                                  const std::string& file);
  // A TorchScript file for a package: the user's own, or one in the folder that is called after `output`.
  BuildSource script(const std::filesystem::path& output);
  const pass::PassReport& built(const BuildOrder& order);
  const std::filesystem::path& folder();

 private:
  const EngineDirectory& engines_;
  const config::Settings& settings_;
  const std::atomic<bool>& interrupt_;
  std::filesystem::path path_;
  std::optional<ScratchFolder> folder_;
  PreparePass run_;
  Graph graph_;
};

}  // namespace paceline::run
