// SPDX-License-Identifier: MIT
#include "tensorrt/plan_file.h"

#include <fmt/format.h>

#include <array>

#include "base/error.h"
#include "support/engine_checks.h"

namespace paceline::tensorrt_plugin {
namespace {

// The head, read as by trtexec --getPlanVersionOnly: a tag, the number of the format, and in format 0 the
// version in four bytes.
constexpr std::string_view kTag = "ftrt";
constexpr std::size_t kFormatAt = 4, kVersionAt = 24, kHeadBytes = 28;

int byte_at(std::string_view bytes, std::size_t at) {
  return static_cast<unsigned char>(bytes[at]);
}

bool has_known_format(std::string_view bytes) {
  return bytes.substr(kFormatAt, 4) == std::string_view("\0\0\0\0", 4);
}

}  // namespace

void check_plan(const std::string& file, std::string_view bytes, const Library& library) {
  if (library.builds_only())
    throw Error(ErrorCode::kUnsupported,
                fmt::format("plans are run with TensorRT, and here is {} {}; set TENSORRT_ROOT to a TensorRT",
                            library.title(), library.version()));
  if (bytes.size() < kHeadBytes || !bytes.starts_with(kTag))
    throw Error(ErrorCode::kData, fmt::format("'{}' is no plan of {}; {}", file, library.title(),
                                              plugin_support::kDamagedAdvice));
  if (!has_known_format(bytes) || byte_at(bytes, kVersionAt) == library.major_version()) return;
  throw Error(
      ErrorCode::kUnsupported,
      fmt::format("'{}' was built by version {}.{}.{}, and this is {} {}; build it again with this one", file,
                  byte_at(bytes, kVersionAt), byte_at(bytes, kVersionAt + 1), byte_at(bytes, kVersionAt + 2),
                  library.title(), library.version()));
}

}  // namespace paceline::tensorrt_plugin
