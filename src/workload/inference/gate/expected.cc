// SPDX-License-Identifier: MIT
#include "workload/inference/gate/expected.h"

#include <fmt/format.h>

#include <filesystem>

#include "base/error.h"
#include "base/npy.h"
#include "base/text.h"
#include "host/machine/memory_budget.h"

namespace paceline::workload {
namespace {

struct NamedFile {
  std::string name;  // empty: the first array
  std::string path;
};

NamedFile split_name(const std::string& text) {
  const auto colon = text.find(':');
  if (colon == std::string::npos || std::filesystem::exists(text)) return {"", text};
  return {text.substr(0, colon), text.substr(colon + 1)};
}

Tensor read_array(const NamedFile& file) {
  // Memory is needed for the array as the file holds it and for the numbers that are compared.
  host::require_memory(2 * static_cast<double>(npy_or_npz_bytes(file.path)),
                       fmt::format("the expected outputs of '{}'", file.path));
  auto arrays = read_npy_or_npz(file.path);
  if (arrays.empty()) throw Error(ErrorCode::kData, fmt::format("'{}' contains no array", file.path));
  if (file.name.empty()) return std::move(arrays.front());
  std::vector<std::string> names;
  for (auto& array : arrays) {
    if (array.spec().name == file.name) return std::move(array);
    names.push_back(array.spec().name);
  }
  throw Error(ErrorCode::kData, fmt::format("'{}' has no array named '{}'; it contains {}", file.path,
                                            file.name, join(names, ", ")));
}

}  // namespace

ComparedRows read_expected_outputs(const std::string& text, std::int64_t samples,
                                   std::int64_t samples_planned) {
  const NamedFile file = split_name(text);
  Tensor array = read_array(file);
  TensorView view = array.view();
  if (view.shape.empty() || view.shape[0] < samples)
    throw Error(
        ErrorCode::kData,
        fmt::format("accuracy_reference '{}' contains outputs of shape [{}], and {} inputs are compared: the "
                    "first dimension must be the inputs, in their order (--accuracy-samples takes fewer)",
                    file.path, fmt::join(view.shape, ", "), samples));
  view.shape[0] = samples;
  ComparedRows rows;
  rows.samples_planned = samples_planned;
  append_rows(rows, {&view, 1}, samples);
  if (!rows.finite)
    throw Error(ErrorCode::kData, fmt::format("accuracy_reference '{}' contains NaN or infinity", file.path));
  return rows;
}

}  // namespace paceline::workload
