// SPDX-License-Identifier: MIT
#include "run/artefacts/quantised_files.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>

#include "base/error.h"
#include "base/file.h"
#include "base/lower_case.h"
#include "base/model_content.h"
#include "base/npy.h"
#include "base/random.h"
#include "base/text.h"
#include "config/precision_table.h"
#include "config/vocabulary.h"
#include "host/machine/cpu.h"
#include "onnx/graph.h"
#include "onnx/model_file.h"
#include "onnx/placement.h"
#include "pass/input_layout.h"
#include "run/artefacts/input_requests.h"
#include "run/case/short_hash.h"

namespace paceline::run {
namespace fs = std::filesystem;
namespace {

constexpr std::int64_t kSeed = 1;  // as input_seed's default

bool has_half_weights(const onnx::proto::ModelProto& model) {
  const auto& tensors = model.graph().initializer();
  return std::any_of(tensors.begin(), tensors.end(),
                     [](const auto& t) { return t.data_type() == onnx::proto::TensorProto::FLOAT16; });
}

std::string data_words(const config::Settings& s) {
  const auto samples = s.integer("quantisation.samples");
  if (s.has("calib_images")) return fmt::format("images of '{}'", s.text("calib_images"));
  if (const auto files = s.texts("calib_data"); !files.empty())
    return fmt::format("'{}'", join(files, "', '"));
  return fmt::format("{} random inputs", samples);
}

void choose_calibrator(pass::PassSpec& pass, const EngineDirectory& engines) {
  std::string reasons;
  const auto* type = config::find_file_type("model.onnx");
  for (const auto& engine : type ? type->readers : std::vector<std::string>{}) {
    const auto home = engines.find(engine);
    pass.use(plugin::Role::kEngine, engine, home.file.string());
    if (!home.file.empty()) return;
    reasons += fmt::format("{}{}", reasons.empty() ? "" : "; ", home.unavailable);
  }
  throw Error(ErrorCode::kUnavailable,
              fmt::format("int8 needs an engine that reads ONNX to calibrate with: {}", reasons));
}

}  // namespace

bool products_saturate(const host::CpuInfo& cpu, const std::string& onednn_limit) {
  constexpr std::array<std::string_view, 2> kWithoutVnni{"avx2", "avx512_core"};  // below: no 8-bit products
  const bool taken = std::ranges::count(kWithoutVnni, lower_case(onednn_limit)) != 0;
  return cpu.has_isa("avx2") && (taken || (!cpu.has_isa("avx512_vnni") && !cpu.has_isa("avx_vnni")));
}

bool needs_quantising(const config::Settings& s, const std::string& file) {
  const auto& precision = s.text("precision");
  if (model_suffix(file) != ".onnx" || (precision != "int8" && precision != "fp16")) return false;
  if (config::find_model(s.text("model"))) return true;
  const auto model = onnx::read_model(file);
  return precision == "int8" ? !onnx::is_quantised(model) : !has_half_weights(model);
}

bool runs_int8(const std::string& precision, const std::string& file) {
  if (precision != config::kPrecisionOfFile) return precision == "int8";
  try {
    return onnx::is_quantised(onnx::read_without_data(file));
  } catch (const Error&) {
    return false;  // the check of the case says why it cannot be read
  }
}

pass::InputRequest calibration_request(const config::Settings& s, const pass::PassSpec& pass) {
  pass::InputRequest request;
  request.batch_dimensions = pass.inference.batch_dimensions;
  request.specs = stored_specs(pass, s.integer("quantisation.samples"));
  const auto seed = s.has("input_seed") ? s.integer("input_seed") : kSeed;
  request.seed = mix64(static_cast<std::uint64_t>(seed) ^ hash64("calibration"));
  request.load_inputs = s.texts("calib_data");
  request.ranges = value_ranges(s, pass, request.load_inputs.empty() ? Beside::kNothing : Beside::kArrays);
  if (s.has("calib_images")) request.image_dir = s.text("calib_images");
  request.image_format = image_format(s);
  if (!request.load_inputs.empty() && !request.image_dir.empty())
    throw Error(ErrorCode::kUsage, "'calib_data' and 'calib_images' exclude each other; keep one");
  return request;
}

pass::PassSpec quantise_pass(const config::Settings& s, const pass::PassSpec& base, const std::string& source,
                             const EngineDirectory& engines) {
  pass::PassSpec pass;
  pass.kind = pass::PassKind::kQuantise;
  pass.case_id = base.case_id;
  pass.model = base.model;
  pass.inference.batch_dimensions = base.inference.batch_dimensions;
  pass.model.name.clear();
  pass.model.file = source;
  pass.settings.threads = base.settings.threads;
  pass.inference.tolerance = base.inference.tolerance;
  auto& to = pass.task.emplace<pass::QuantiseTo>();
  to.precision = s.text("precision");
  if (to.precision != "int8") return pass;
  pass.inference.samples = s.integer("quantisation.samples");
  to.activations = s.text("quantisation.activations");
  if (to.activations == "auto") to.activations = base.engine() == "tensorrt" ? "int8" : "uint8";
  to.method = s.text("quantisation.method");
  to.percentile = s.number("quantisation.percentile");
  to.exclude = s.texts("quantisation.exclude");
  to.reduce_range = to.activations == "uint8" && products_saturate(host::read_cpu());
  to.data = data_words(s);
  choose_calibrator(pass, engines);
  return pass;
}

void free_shapes(pass::PassSpec& pass, const onnx::proto::ModelProto& model) {
  const auto declared = onnx::graph_inputs(model.graph());
  for (std::size_t i = 0; i < pass.model.inputs.size(); ++i) {
    auto& input = pass.model.inputs[i];
    const auto found = std::find_if(declared.begin(), declared.end(),
                                    [&](const auto& spec) { return spec.name == input.name; });
    if (found == declared.end() || found->shape.size() != input.shape.size()) continue;
    const auto batch = pass::batch_dimension_of(pass.inference.batch_dimensions, i);
    for (std::size_t d = 0; d < input.shape.size(); ++d)
      if (found->shape[d] < 0 && static_cast<std::int64_t>(d) != batch) input.shape[d] = -1;
  }
}

std::vector<Target> add_calibration(const config::Settings& s, pass::PassSpec& pass, const fs::path& folder,
                                    const PreparePass& run) {
  if (std::get<pass::QuantiseTo>(pass.task).precision != "int8") return {};
  if (!s.texts("calib_data").empty()) free_shapes(pass, onnx::read_model(pass.model.file));
  pass::InputsTo to{calibration_request(s, pass), {}};
  to.prefix = (folder / ("calibration-" + request_key(to.request))).string();
  pass.inference.input_files = files_of(to);
  return {written_by(inputs_pass(to), run)};
}

void use_calibration_shapes(pass::PassSpec& pass) {
  for (std::size_t i = 0; i < pass.model.inputs.size(); ++i) {
    auto& shape = pass.model.inputs[i].shape;
    if (std::none_of(shape.begin(), shape.end(), [](auto size) { return size < 0; })) continue;
    const auto batch = pass::batch_dimension_of(pass.inference.batch_dimensions, i);
    const auto made = pass::model_shape(read_npy_spec(pass.inference.input_files.at(i)).shape, batch, 1);
    for (std::size_t d = 0; d < shape.size(); ++d)
      if (shape[d] < 0) shape[d] = made.at(d);
  }
}

Target quantised_file(const pass::PassSpec& given, const PreparePass& run, std::vector<Target> calibration) {
  const auto with_shapes = [run](pass::PassSpec pass) {
    if (!pass.inference.input_files.empty()) use_calibration_shapes(pass);
    return run(pass);
  };
  return written_by(given, with_shapes, std::move(calibration));
}

std::string quantised_file_key(const pass::PassSpec& pass) {
  const auto json = pass::to_json(pass);
  return short_hash({pass.model.file, json.at("quantise_to"), pass.inference.input_files});
}

fs::path calibration_file(const config::Settings& s, const pass::PassSpec& pass, const fs::path& run_dir) {
  const auto& to = std::get<pass::QuantiseTo>(pass.task);
  const auto name = fmt::format("calibration-{}-{}.json", fs::path(pass.model.file).stem().string(),
                                short_hash({to.method, to.percentile, pass.inference.samples, to.data}));
  if (!s.has("calib_cache")) return run_dir / name;
  const fs::path given = fs::absolute(s.text("calib_cache"));
  std::error_code error;
  return fs::is_directory(given, error) ? given / name : given;
}

bool calibrates_with_random_inputs(const config::Settings& s) {
  return s.text("precision") == "int8" && !s.has("calib_images") && s.texts("calib_data").empty();
}

const char* const kRandomCalibration =
    "int8 is calibrated with random inputs: fine for speed, not for accuracy; give --calib-images FOLDER or "
    "--calib-data FILE";

}  // namespace paceline::run
