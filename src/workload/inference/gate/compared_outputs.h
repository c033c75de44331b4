// SPDX-License-Identifier: MIT
#pragma once
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "base/tensor.h"
#include "workload/inference/gate/compared_rows.h"

// Collects all outputs of several batches, and reads those of the reference from files.
namespace paceline::workload {

struct ComparedOutput {
  ComparedRows rows;
  std::string left_out;  // why it cannot be compared; empty: it can
};
using ComparedOutputs = std::vector<ComparedOutput>;  // in the model's order

// Appends the outputs of one batch. Where there are several, one whose shape does not begin with the batch or
// changes between batches is left out from then on. Throws Error(kData) where none is left, and wherever else
// append_output throws.
void append_outputs(ComparedOutputs& all, std::span<const TensorView> outputs, std::int64_t batch,
                    std::int64_t samples_planned);

ComparedOutputs select_samples(const ComparedOutputs& all, std::span<const std::int64_t> samples);

// Writes the outputs that can be compared, the first to `file` and the others beside it. Outputs that hold
// NaN or infinity are left out; Error(kData) when that is the first one that can be compared.
void write_reference(const std::filesystem::path& file, const ComparedOutputs& outputs);
// Reads a range of samples. A file without others beside it holds the first output.
ComparedOutputs read_reference(const std::filesystem::path& file, std::int64_t first, std::int64_t count);

// The reference of output `index`: the one of the same name where every reference has a namesake, else the
// one at the same place. Null where none can be compared.
const ComparedRows* reference_of(const ComparedOutputs& reference, const ComparedOutputs& outputs,
                                 std::size_t index);

}  // namespace paceline::workload
