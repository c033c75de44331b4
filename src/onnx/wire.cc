// SPDX-License-Identifier: MIT
#include "onnx/wire.h"

#include <fmt/format.h>

#include "base/display_text.h"
#include "base/error.h"
#include "base/reading.h"
#include "base/units.h"

namespace paceline::onnx {

const std::filesystem::path& checked_model_file(const std::filesystem::path& file) {
  check_regular_file(file);
  const auto bytes = std::filesystem::file_size(file);
  if (bytes > kMaxMessageBytes)
    throw Error(ErrorCode::kData,
                fmt::format("'{}' has {}, and an ONNX file ends at 2 GiB (more weights are in a file beside "
                            "it); it is damaged or something else",
                            shown_path(file.string()), format_bytes(static_cast<double>(bytes))));
  return file;
}

}  // namespace paceline::onnx
