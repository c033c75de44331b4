// SPDX-License-Identifier: MIT
#include "onnx/wire.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/display_text.h"
#include "base/error.h"
#include "base/model_content.h"
#include "base/reading.h"
#include "base/units.h"

namespace paceline::onnx {

const std::filesystem::path& checked_model_file(const std::filesystem::path& file) {
  check_regular_file(file);
  if (const auto why = no_model_file(file))
    throw Error(ErrorCode::kData, fmt::format("'{}' {}", shown_path(file.string()), *why));
  const auto bytes = std::filesystem::file_size(file);
  if (bytes > kMaxMessageBytes)
    throw Error(ErrorCode::kData,
                fmt::format("'{}' has {}, and an ONNX file ends at 2 GiB (more weights are in a file beside "
                            "it); it is damaged or something else",
                            shown_path(file.string()), format_bytes(static_cast<double>(bytes))));
  return file;
}

namespace {

// How many bytes the first field that does not end in the file lacks; 0: each ends, or it is no model.
std::uint64_t missing_bytes(std::string_view bytes) {
  constexpr std::array<std::uint64_t, 11> kFields{1, 2, 3, 4, 5, 6, 7, 8, 14, 20, 25};  // of ModelProto
  wire::Message rest(bytes);
  while (const auto key = rest.varint()) {
    if (std::find(kFields.begin(), kFields.end(), *key >> 3) == kFields.end()) return 0;
    const auto value = rest.varint();
    if (!value || (*key & 7 & ~2U) != 0) return 0;
    if ((*key & 7) == 2 && !rest.skip(*value)) return *value - rest.size();
  }
  return 0;
}

}  // namespace

ModelBytes::ModelBytes(const std::filesystem::path& file) : mapped_(checked_model_file(file)) {
  if (const auto missing = missing_bytes(mapped_.bytes()); missing > 0)
    throw Error(ErrorCode::kData,
                fmt::format("'{}' is cut short: at least {} are missing at its end; copy or "
                            "download it again",
                            shown_path(file.string()), format_bytes(static_cast<double>(missing))));
}

}  // namespace paceline::onnx
