// SPDX-License-Identifier: MIT
#include "run/inference/check_files.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "base/error.h"
#include "base/file.h"
#include "base/npy.h"
#include "base/random.h"
#include "base/text.h"
#include "host/machine/memory_budget.h"
#include "pass/input_layout.h"
#include "run/artefacts/input_requests.h"
#include "run/inference/reference_factory.h"

namespace paceline::run {
namespace {

template <typename T>
std::vector<std::int64_t> to_integers(const Tensor& tensor) {
  std::vector<std::int64_t> values;
  for (std::int64_t i = 0; i < element_count(tensor.spec().shape); ++i)
    values.push_back(static_cast<std::int64_t>(tensor.as<T>()[i]));
  return values;
}

std::vector<std::int64_t> integers_of(const Tensor& tensor, const std::string& file) {
  const bool flat = tensor.spec().shape.size() == 1;
  if (flat && tensor.spec().dtype == DType::kInt64) return to_integers<std::int64_t>(tensor);
  if (flat && tensor.spec().dtype == DType::kInt32) return to_integers<std::int32_t>(tensor);
  if (flat && tensor.spec().dtype == DType::kUInt8) return to_integers<std::uint8_t>(tensor);
  throw Error(ErrorCode::kData,
              fmt::format("labels '{}' contain {} [{}]; one dimension of int64, int32 or uint8 is needed",
                          file, dtype_name(tensor.spec().dtype), fmt::join(tensor.spec().shape, ", ")));
}

std::vector<std::int64_t> read_lines(const std::string& file) {
  std::vector<std::int64_t> labels;
  std::size_t line = 0;
  for (const auto& text : split(read_file(file), '\n')) {
    ++line;
    if (trim(text).empty()) continue;
    const auto label = parse_int(trim(text));
    if (!label)
      throw Error(ErrorCode::kData,
                  fmt::format("labels '{}', line {}: '{}' is no integer; write one class index per line",
                              file, line, std::string(trim(text)).substr(0, 40)));
    labels.push_back(*label);
  }
  return labels;
}

// Labels are those of the inputs in their order; another number of them would be a shift nobody sees.
void add_labels(std::int64_t given, pass::PassSpec& pass) {
  pass::AccuracyQuestion& question = pass.inference.accuracy;
  if (question.labels_file.empty()) return;
  auto labels = read_labels(question.labels_file);
  if (static_cast<std::int64_t>(labels.size()) != given)
    throw Error(ErrorCode::kData, fmt::format("labels '{}' has {} labels, and {} has {} inputs",
                                              question.labels_file, labels.size(), question.inputs, given));
  for (std::size_t i = 0; static_cast<std::int64_t>(labels.size()) < pass.inference.samples; ++i)
    labels.push_back(labels[i]);  // as the last batch is filled up
  labels.resize(static_cast<std::size_t>(pass.inference.samples));
  question.labels = std::move(labels);
}

// Names the first `given` outputs of a user's file, filled up as inputs are.
pass::ExpectedTo expected_outputs(const std::string& file, std::int64_t given, std::int64_t samples,
                                  const std::filesystem::path& folder) {
  const auto rows = given > 0 ? std::min(given, samples) : samples;
  const auto made = folder / fmt::format("expected-{:016x}-{}-{}.npy", hash64(file), rows, samples);
  return {file, rows, made.string()};
}

pass::InputsTo check_inputs(const config::Case& c, const pass::PassSpec& pass, bool counted,
                            const std::filesystem::path& folder) {
  const auto name = fmt::format("input-{}{}", input_key(c, pass), counted ? "-counted" : "");
  return {input_request(c, pass), (folder / name).string(), counted};
}

}  // namespace

std::vector<std::int64_t> read_labels(const std::string& file) {
  constexpr double kLine = 48;  // bytes of memory per line, its text and its number
  const bool array = file.ends_with(".npy");
  std::error_code pipe;  // a pipe has no size, and is read up to a limit
  const auto size = std::filesystem::file_size(file, pipe);
  if (!pipe)
    host::require_memory(
        array ? 2 * static_cast<double>(npy_or_npz_bytes(file)) : kLine / 2 * static_cast<double>(size),
        fmt::format("the labels of '{}'", file));
  auto labels = array ? integers_of(read_npy(file), file) : read_lines(file);
  if (labels.empty()) throw Error(ErrorCode::kData, fmt::format("labels '{}' is empty", file));
  return labels;
}

pass::InputsReport prepare_check_files(const config::Case& c, Graph& graph,
                                       const std::filesystem::path& folder, const PreparePass& run,
                                       pass::PassSpec& pass) {
  const std::string expected = reference_choice(c).file;
  const auto inputs = check_inputs(c, pass, !expected.empty() || !pass.inference.accuracy.generated, folder);
  const auto made = graph.want(written_by(inputs_pass(inputs), run)).get<pass::InputsReport>();
  pass.inference.accuracy.samples_given = pass.inference.accuracy.generated ? 0 : made.samples_given;
  pass.inference.input_files = files_of(inputs);
  bool same_for_all = !pass.inference.input_files.empty();
  for (std::size_t i = 0; i < pass.inference.input_files.size(); ++i)
    if (pass::batch_dimension_of(pass.inference.batch_dimensions, i) != pass::kNoBatch) {
      pass.inference.samples =
          std::min(pass.inference.samples, read_npy_spec(pass.inference.input_files[i]).shape.at(0));
      same_for_all = false;
    }
  if (same_for_all) pass.inference.samples = pass.batch;  // more would be the same inference again
  add_labels(made.samples_given, pass);
  if (expected.empty()) return made;
  const auto to = expected_outputs(expected, made.samples_given, pass.inference.samples, folder);
  graph.want(written_by(expected_pass(to, pass.inference.samples), run));
  pass.inference.reference_file = to.file;
  pass.inference.reference_name = fmt::format("expected outputs of {}", expected);
  pass.inference.accuracy.expected_file = expected;
  return made;
}

}  // namespace paceline::run
