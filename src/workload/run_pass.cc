// SPDX-License-Identifier: MIT
#include "workload/run_pass.h"

#include "workload/inference/inference_pass.h"
#include "workload/prepare/build_pass.h"
#include "workload/prepare/export_pass.h"
#include "workload/prepare/input_pass.h"
#include "workload/prepare/quantise_pass.h"
#include "workload/training/training_pass.h"
#include "workload/training/training_profile.h"

namespace paceline::workload {

void run_pass(const PassSpec& spec, RecordSink& sink, const std::atomic<bool>& interrupt) {
  if (spec.kind == PassKind::kInputs) return make_input_files(spec, sink);
  if (spec.kind == PassKind::kExpected) return make_expected_file(spec, sink);
  if (spec.kind == PassKind::kExport) return export_model(spec, sink);
  if (spec.kind == PassKind::kQuantise) return quantise_model(spec, sink, interrupt);
  if (spec.kind == PassKind::kBuild) return build_engine_file(spec, sink);
  if (spec.kind == PassKind::kTrain) return run_training_pass(spec, sink, interrupt);
  if (spec.kind == PassKind::kTrainProfile) return run_training_profile(spec, sink, interrupt);
  run_inference_pass(spec, sink, interrupt);
}

}  // namespace paceline::workload
