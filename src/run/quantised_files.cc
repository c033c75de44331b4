// SPDX-License-Identifier: MIT
#include "run/quantised_files.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/error.h"
#include "base/random.h"
#include "base/sha256.h"
#include "config/vocabulary.h"
#include "host/cpu.h"
#include "onnx/model_file.h"
#include "onnx/placement.h"
#include "run/pass_factory.h"

namespace paceline::run {
namespace fs = std::filesystem;
namespace {

constexpr std::array<const char*, 2> kCalibrators{"onnxruntime", "openvino"};

bool has_half_weights(const onnx::proto::ModelProto& model) {
  const auto& tensors = model.graph().initializer();
  return std::any_of(tensors.begin(), tensors.end(),
                     [](const auto& t) { return t.data_type() == onnx::proto::TensorProto::FLOAT16; });
}

// x86 without VNNI adds two 8-bit products in 16 bits.
bool products_saturate(const host::CpuInfo& cpu) {
  return cpu.has_isa("avx2") && !cpu.has_isa("avx512_vnni") && !cpu.has_isa("avx_vnni");
}

std::string data_words(const config::Case& c) {
  const auto& s = c.settings;
  const auto samples = s.integer("quantisation.samples");
  if (s.has("calib_images")) return fmt::format("images of '{}'", s.text("calib_images"));
  if (const auto files = s.texts("calib_data"); !files.empty()) return fmt::format("'{}'", files.front());
  return fmt::format("{} random inputs", samples);
}

void choose_calibrator(workload::PassSpec& pass, const EngineDirectory& engines) {
  std::string reasons;
  for (const char* engine : kCalibrators) {
    const auto home = engines.find(engine);
    pass.engine = engine;
    pass.plugin_file = home.file.string();
    if (!home.file.empty()) return;
    reasons += fmt::format("{}{}", reasons.empty() ? "" : "; ", home.unavailable);
  }
  throw Error(ErrorCode::kUnavailable,
              fmt::format("int8 needs an engine that reads ONNX to calibrate with: {}", reasons));
}

std::string short_hash(const nlohmann::json& json) {
  return sha256_hex(json.dump()).substr(0, 16);
}

}  // namespace

bool needs_quantising(const config::Case& c, const std::string& file) {
  const auto& precision = c.settings.text("precision");
  if (!file.ends_with(".onnx") || (precision != "int8" && precision != "fp16")) return false;
  if (config::find_model(c.settings.text("model"))) return true;
  const auto model = onnx::read_model(file);
  return precision == "int8" ? !onnx::is_quantised(model) : !has_half_weights(model);
}

workload::InputRequest calibration_request(const config::Case& c, const workload::PassSpec& pass) {
  auto request = input_request(c, pass);
  for (auto& spec : request.specs) spec.shape.at(0) = c.settings.integer("quantisation.samples");
  request.seed = mix64(request.seed ^ hash64("calibration"));
  request.load_inputs = c.settings.texts("calib_data");
  request.image_dir = c.settings.has("calib_images") ? c.settings.text("calib_images") : "";
  return request;
}

workload::PassSpec quantise_pass(const config::Case& c, const workload::PassSpec& base,
                                 const std::string& source, const EngineDirectory& engines) {
  const auto& s = c.settings;
  workload::PassSpec pass;
  pass.kind = workload::PassKind::kQuantise;
  pass.case_id = base.case_id;
  pass.model = base.model;
  pass.model.name.clear();
  pass.model.file = source;
  pass.settings.threads = base.settings.threads;
  pass.tolerance = base.tolerance;
  auto& to = pass.quantise_to;
  to.precision = s.text("precision");
  if (to.precision != "int8") return pass;
  pass.samples = s.integer("quantisation.samples");
  to.activations = base.engine == "tensorrt" ? "int8" : "uint8";
  to.method = s.text("quantisation.method");
  to.percentile = s.number("quantisation.percentile");
  to.exclude = s.texts("quantisation.exclude");
  to.reduce_range = to.activations == "uint8" && products_saturate(host::read_cpu());
  to.data = data_words(c);
  choose_calibrator(pass, engines);
  return pass;
}

std::string quantised_file_key(const workload::PassSpec& pass) {
  const auto json = workload::to_json(pass);
  return short_hash({pass.model.file, json.at("quantise_to"), pass.input_files});
}

fs::path calibration_file(const config::Case& c, const workload::PassSpec& pass, const fs::path& run_dir) {
  const auto& to = pass.quantise_to;
  const auto name = fmt::format("calibration-{}-{}.json", fs::path(pass.model.file).stem().string(),
                                short_hash({to.method, to.percentile, pass.samples, to.data}));
  if (!c.settings.has("calib_cache")) return run_dir / name;
  const fs::path given = fs::absolute(c.settings.text("calib_cache"));
  std::error_code error;
  return fs::is_directory(given, error) ? given / name : given;
}

}  // namespace paceline::run
