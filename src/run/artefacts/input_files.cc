// SPDX-License-Identifier: MIT
#include "run/artefacts/input_files.h"

#include "pass/input_layout.h"

namespace paceline::run {
namespace {

pass::PassReport report_of(const pass::PassSpec& pass, const PreparePass& run) {
  const auto outcome = run(pass);
  if (!outcome.ok) throw PassFailure(outcome);
  return outcome.report;
}

}  // namespace

InputFiles make_input_files(const pass::InputsTo& to, const PreparePass& run) {
  pass::PassSpec pass;
  pass.kind = pass::PassKind::kInputs;
  pass.task = to;
  InputFiles made;
  const auto report = report_of(pass, run).get<pass::InputsReport>();
  made.given = report.samples_given;
  made.pictures = report.pictures;
  made.left_out = report.left_out;
  made.files = pass::input_file_names(to.prefix, to.request.specs.size());
  return made;
}

void make_expected_file(const pass::ExpectedTo& to, std::int64_t samples, const PreparePass& run) {
  pass::PassSpec pass;
  pass.kind = pass::PassKind::kExpected;
  pass.task = to;
  pass.samples = samples;
  report_of(pass, run);
}

}  // namespace paceline::run
