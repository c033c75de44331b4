// SPDX-License-Identifier: MIT
// The passes that make what cases and calibrations read.
#include <fmt/format.h>

#include "base/npy.h"
#include "pass/input_layout.h"
#include "workload/inference/gate/expected.h"
#include "workload/inference/inputs.h"
#include "workload/prepare/passes.h"

namespace paceline::workload {

void make_input_files(const pass::PassSpec& spec, pass::RecordSink& sink) {
  const auto& to = std::get<pass::InputsTo>(spec.task);
  sink.emit(pass::phase_record("inputs"));
  result::PictureTimes pictures;
  auto inputs = make_inputs(to.request, &pictures);
  if (to.count_given) {
    const auto& folder = to.request.image_dir;
    const auto rest = folder.empty() ? "" : images_left_out(folder);
    sink.emit(pass::inputs_record({samples_given(to.request), pictures, rest}));
    if (!rest.empty())
      sink.emit(pass::notice_record(fmt::format("left out of '{}': {}", folder.string(), rest)));
  }
  const auto files = pass::input_file_names(to.prefix, inputs.size());
  for (std::size_t i = 0; i < inputs.size(); ++i) write_npy(files[i], inputs[i].view());
}

void make_expected_file(const pass::PassSpec& spec, pass::RecordSink& sink) {
  const auto& to = std::get<pass::ExpectedTo>(spec.task);
  sink.emit(pass::phase_record("expected"));
  std::vector<std::int64_t> filled;
  for (std::int64_t i = 0; i < spec.inference.samples; ++i) filled.push_back(i % to.given);
  const auto rows = select_samples(read_expected_outputs(to.from, to.given, spec.inference.samples), filled);
  write_npy(to.file, to_tensor(rows).view());
}

}  // namespace paceline::workload
