// SPDX-License-Identifier: MIT
#pragma once
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "base/tensor.h"
#include "workload/inference/compared_rows.h"

// All outputs of several batches, and those of the reference as files.
namespace paceline::workload {

struct ComparedOutput {
  ComparedRows rows;
  std::string left_out;  // why it cannot be compared; empty: it can
};
using ComparedOutputs = std::vector<ComparedOutput>;  // in the model's order

// Appends the outputs of one batch. One of several whose shape does not begin with the batch, or changes from
// batch to batch, is left out from then on; where that leaves none, and for everything else that
// append_output throws for, Error(kData).
void append_outputs(ComparedOutputs& all, std::span<const TensorView> outputs, std::int64_t batch,
                    std::int64_t samples_planned);

ComparedOutputs select_samples(const ComparedOutputs& all, std::span<const std::int64_t> samples);

// Writes those that can be compared, the first to `file` and the others beside it; outputs that hold NaN or
// infinity are left out, and the first that can be compared must not (Error(kData)).
void write_reference(const std::filesystem::path& file, const ComparedOutputs& outputs);
// Some samples of them. A file without others beside it is the first output.
ComparedOutputs read_reference(const std::filesystem::path& file, std::int64_t first, std::int64_t count);

// The reference of output `index`: of the same name where each reference has a namesake, else of the same
// place. Null where there is none that can be compared.
const ComparedRows* reference_of(const ComparedOutputs& reference, const ComparedOutputs& outputs,
                                 std::size_t index);

}  // namespace paceline::workload
