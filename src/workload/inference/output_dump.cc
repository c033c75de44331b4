// SPDX-License-Identifier: MIT
#include "workload/inference/output_dump.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <list>
#include <vector>

#include "base/display_text.h"
#include "base/error.h"
#include "base/file.h"
#include "base/half.h"
#include "base/npy.h"
#include "workload/inference/compared_rows.h"

namespace paceline::workload {
namespace {

Tensor widened(const TensorView& view) {
  Tensor tensor({view.name, DType::kFloat32, view.shape});
  auto* const to = tensor.as<float>();
  const auto* const from = static_cast<const std::byte*>(view.data);
  for (std::int64_t i = 0; i < element_count(view.shape); ++i) {
    std::uint16_t bits = 0;
    std::memcpy(&bits, from + static_cast<std::size_t>(i) * sizeof bits, sizeof bits);
    to[i] = bfloat16_to_float(bits);
  }
  return tensor;
}

bool is_taken(const std::vector<TensorView>& views, const std::string& name) {
  return std::any_of(views.begin(), views.end(), [&](const auto& view) { return view.name == name; });
}

void write_all(const std::filesystem::path& file, std::span<const TensorView> tensors, const char* nameless) {
  std::vector<TensorView> views;
  std::list<Tensor> converted;
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    if (!is_contiguous(tensors[i]))
      throw Error(ErrorCode::kData,
                  fmt::format("'{}' is not contiguous and cannot be dumped", tensors[i].name));
    TensorView view = tensors[i];
    if (view.name.empty() || is_taken(views, view.name)) view.name = fmt::format("{}{}", nameless, i);
    if (view.dtype == DType::kBFloat16) view = converted.emplace_back(widened(view)).view();
    views.push_back(std::move(view));
  }
  write_npz(file, views);
}

// Removes files of an earlier dump, which may be longer or of another model.
void remove_earlier(const std::filesystem::path& folder) {
  for (const char* what : {"inputs", "outputs"}) {
    std::error_code error;
    for (std::int64_t batch = 0;
         std::filesystem::remove(folder / fmt::format("{}-{}.npz", what, batch), error);)
      ++batch;
  }
}

}  // namespace

void dump_batch(const std::filesystem::path& folder, std::int64_t batch, std::span<const TensorView> inputs,
                std::span<const TensorView> outputs) {
  std::error_code error;
  check_own_name(folder);
  std::filesystem::create_directories(folder, error);
  if (error)
    throw Error(ErrorCode::kIo, fmt::format("cannot make the folder '{}' for outputs: {}",
                                            shown_path(folder.string()), error.message()));
  if (batch == 0) remove_earlier(folder);
  write_all(folder / fmt::format("inputs-{}.npz", batch), inputs, "input");
  write_all(folder / fmt::format("outputs-{}.npz", batch), outputs, "output");
}

}  // namespace paceline::workload
