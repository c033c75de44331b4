// SPDX-License-Identifier: MIT
#include "workload/prepare/model_runner.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/clock.h"
#include "base/error.h"
#include "base/npy.h"
#include "onnx/graph.h"
#include "onnx/model_file.h"
#include "pass/input_layout.h"
#include "workload/inference/batched_inputs.h"
#include "workload/inference/pass_parts.h"

namespace paceline::workload {
namespace fs = std::filesystem;
namespace {

// The batch size where the model fixes it, else 1.
std::int64_t batch_of(const onnx::proto::ModelProto& model, std::span<const std::int64_t> dimensions) {
  const auto inputs = onnx::graph_inputs(model.graph());
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const auto dimension = pass::batch_dimension_of(dimensions, i);
    const auto& shape = inputs[i].shape;
    if (dimension == pass::kNoBatch || static_cast<std::size_t>(dimension) >= shape.size()) continue;
    if (const auto size = shape[static_cast<std::size_t>(dimension)]; size > 0) return size;
  }
  return 1;
}

void remove_model(const fs::path& file) {
  std::error_code ignored;
  fs::remove(file, ignored);
  fs::remove(file.string() + ".data", ignored);
}

}  // namespace

ModelRunner::ModelRunner(const pass::PassSpec& spec, pass::RecordSink& sink,
                         const std::atomic<bool>& interrupt)
    : spec_(spec),
      sink_(sink),
      interrupt_(interrupt),
      plugin_(spec.plugin(plugin::Role::kEngine).file),
      scratch_(std::get<pass::QuantiseTo>(spec.task).file + ".scratch.onnx") {
  for (std::size_t i = 0; i < spec.inference.input_files.size(); ++i) {
    inputs_.push_back(read_npy(spec.inference.input_files[i]));
    inputs_.back().rename(spec.model.inputs.at(i).name);
  }
  if (inputs_.empty())
    throw Error(ErrorCode::kData, "int8 needs calibration data: a model without inputs has none");
  engine_name_ = spec.engine();
}

ModelRunner::~ModelRunner() {
  remove_model(scratch_);
}

std::int64_t ModelRunner::samples() const {
  for (std::size_t i = 0; i < inputs_.size(); ++i)
    if (pass::batch_dimension_of(spec_.inference.batch_dimensions, i) != pass::kNoBatch)
      return inputs_[i].spec().shape.at(0);
  return 1;
}

plugin::ModelSpec ModelRunner::scratch_model(std::int64_t batch) const {
  plugin::ModelSpec file;
  file.file = scratch_.string();
  file.inputs = spec_.model.inputs;
  for (std::size_t i = 0; i < file.inputs.size(); ++i)
    if (const auto dimension = pass::batch_dimension_of(spec_.inference.batch_dimensions, i);
        dimension != pass::kNoBatch)
      file.inputs[i].shape.at(static_cast<std::size_t>(dimension)) = batch;
  return file;
}

std::int64_t ModelRunner::run(onnx::proto::ModelProto& model, std::int64_t samples, const std::string& phase,
                              const Visit& visit) {
  const std::int64_t batch = batch_of(model, spec_.inference.batch_dimensions);
  const std::int64_t wanted = std::min(std::max(samples, batch), this->samples()) / batch * batch;
  if (wanted == 0)
    throw Error(ErrorCode::kData,
                fmt::format("the model takes batches of {}, the calibration data are {} samples", batch,
                            this->samples()));
  onnx::write_model(model, scratch_);
  auto settings = spec_.settings;
  settings.precision = "fp32";
  const auto engine = plugin_.make<plugin::Role::kEngine>(spec_.engine());
  engine->load(scratch_model(batch), settings);
  const auto info = engine->info();
  if (!info.versions.empty())
    engine_name_ = fmt::format("{} {}", info.versions.front().first, info.versions.front().second);
  sink_.emit(pass::loaded_record(info.versions, info.settings));
  const SteadyClock clock;
  const auto begin = clock.now_ns();
  BatchedInputs batches(inputs_, spec_.inference.batch_dimensions, batch);
  for (std::int64_t first = 0; first < wanted && !interrupt_; first += batch) {
    const auto inputs = batches.views(first / batch);
    visit(inputs, infer(*engine, inputs), batch);
    const double seconds = static_cast<double>(clock.now_ns() - begin) * 1e-9;
    sink_.emit(pass::progress_record({phase, first + batch, seconds, {}, {}, {}}));
  }
  return wanted;
}

}  // namespace paceline::workload
