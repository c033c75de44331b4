// SPDX-License-Identifier: MIT
#include "run/inference/check_files.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/error.h"
#include "base/npy.h"
#include "pass/input_layout.h"
#include "run/inference/labels.h"
#include "run/inference/reference_factory.h"

namespace paceline::run {
namespace {

// Labels are those of the inputs in their order; another number of them would be a shift nobody sees.
void add_labels(std::int64_t given, pass::PassSpec& pass) {
  pass::AccuracyQuestion& question = pass.accuracy;
  if (question.labels_file.empty()) return;
  auto labels = read_labels(question.labels_file);
  if (static_cast<std::int64_t>(labels.size()) != given)
    throw Error(ErrorCode::kData, fmt::format("labels '{}' holds {} labels, {} holds {} inputs",
                                              question.labels_file, labels.size(), question.inputs, given));
  for (std::size_t i = 0; static_cast<std::int64_t>(labels.size()) < pass.samples; ++i)
    labels.push_back(labels[i]);  // as the last batch is filled up
  labels.resize(static_cast<std::size_t>(pass.samples));
  question.labels = std::move(labels);
}

void add_expected_outputs(const std::string& file, std::int64_t given, Artefacts& artefacts,
                          const PreparePass& run, pass::PassSpec& pass) {
  if (file.empty()) return;
  const auto rows = given > 0 ? std::min(given, pass.samples) : pass.samples;
  pass.reference_file = artefacts.expected_outputs(file, rows, pass.samples, run);
  pass.reference_name = fmt::format("expected outputs of {}", file);
  pass.accuracy.expected_file = file;
}

}  // namespace

void prepare_check_files(const config::Case& c, Artefacts& artefacts, const PreparePass& run,
                         pass::PassSpec& pass) {
  const std::string expected = reference_choice(c).file;
  const bool counted = !expected.empty() || !pass.accuracy.labels_file.empty();
  const auto made = artefacts.inputs(c, pass, counted, run);
  pass.input_files = made.files;
  bool same_for_all = !pass.input_files.empty();
  for (std::size_t i = 0; i < pass.input_files.size(); ++i)
    if (pass::batch_dimension_of(pass.batch_dimensions, i) != pass::kNoBatch) {
      pass.samples = read_npy_spec(pass.input_files[i]).shape.at(0);
      same_for_all = false;
    }
  if (same_for_all) pass.samples = pass.batch;  // more would be the same inference again
  add_labels(made.given, pass);
  add_expected_outputs(expected, made.given, artefacts, run, pass);
}

}  // namespace paceline::run
