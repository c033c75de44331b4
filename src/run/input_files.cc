// SPDX-License-Identifier: MIT
#include "run/input_files.h"

#include <fmt/format.h>

#include <cstddef>

namespace paceline::run {
namespace {

workload::PassReport report_of(const workload::PassSpec& pass, const PreparePass& run) {
  const auto outcome = run(pass);
  if (!outcome.ok) throw PassFailure(outcome);
  return outcome.report;
}

}  // namespace

InputFiles make_input_files(const workload::InputsTo& to, const PreparePass& run) {
  workload::PassSpec pass;
  pass.kind = workload::PassKind::kInputs;
  pass.inputs_to = to;
  InputFiles made;
  made.given = report_of(pass, run).samples_given;
  for (std::size_t i = 0; i < to.request.specs.size(); ++i)
    made.files.push_back(fmt::format("{}-{}.npy", to.prefix, i));
  return made;
}

void make_expected_file(const workload::ExpectedTo& to, std::int64_t samples, const PreparePass& run) {
  workload::PassSpec pass;
  pass.kind = workload::PassKind::kExpected;
  pass.expected_to = to;
  pass.samples = samples;
  report_of(pass, run);
}

}  // namespace paceline::run
