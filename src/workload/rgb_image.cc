// SPDX-License-Identifier: MIT
#include "workload/rgb_image.h"

#include <fmt/format.h>
#include <stb/stb_image.h>

#include <memory>
#include <string>
#include <string_view>

#include "base/error.h"
#include "base/foreign_text.h"
#include "base/reading.h"
#include "host/machine/memory_budget.h"

namespace paceline::workload {
namespace {

constexpr double kLargeImageBytes = 64e6;  // for smaller ones the system is not asked about memory

const stbi_uc* data_of(const std::string& bytes) {
  return reinterpret_cast<const stbi_uc*>(bytes.data());
}

// A small file can be a huge picture, which is held twice: by the decoder, and as it is returned.
void require_room(const std::filesystem::path& file, const std::string& bytes) {
  int width = 0, height = 0, channels = 0;
  if (!stbi_info_from_memory(data_of(bytes), static_cast<int>(bytes.size()), &width, &height, &channels))
    return;
  const double size = 6.0 * width * height;
  if (size > kLargeImageBytes)
    host::require_memory(size, fmt::format("the {} x {} pixels of '{}'", width, height, file.string()));
}

// A JPEG has an end mark after its scan; the decoder fills what is missing with grey. Parts before the scan
// have a length: a thumbnail in them has an end mark too.
bool is_cut_jpeg(const std::string& bytes) {
  constexpr unsigned kMark = 0xFF, kBegin = 0xD8, kScan = 0xDA, kEnd = 0xD9;
  const auto at = [&](std::size_t i) { return static_cast<unsigned>(static_cast<unsigned char>(bytes[i])); };
  if (bytes.size() < 4 || at(0) != kMark || at(1) != kBegin) return false;
  std::size_t part = 2;
  while (part + 4 <= bytes.size() && at(part) == kMark && at(part + 1) != kScan)
    part += at(part + 1) == kMark ? 1 : 2 + (at(part + 2) << 8U | at(part + 3));
  const char end[] = {static_cast<char>(kMark), static_cast<char>(kEnd)};
  return part >= bytes.size() || bytes.find(std::string_view(end, 2), part) == std::string::npos;
}

}  // namespace

RgbImage decode_rgb(const std::filesystem::path& file) {
  const std::string bytes = read_foreign(file, Foreign::kImage);
  if (is_cut_jpeg(bytes))
    throw Error(ErrorCode::kData,
                fmt::format("'{}' is cut off: it has no end of a JPEG file; get it again, or "
                            "take it out of the folder",
                            file.string()));
  int width = 0, height = 0, channels = 0;
  require_room(file, bytes);
  const std::unique_ptr<stbi_uc, void (*)(void*)> pixels(
      stbi_load_from_memory(data_of(bytes), static_cast<int>(bytes.size()), &width, &height, &channels, 3),
      stbi_image_free);
  if (!pixels) {
    const char* why = stbi_failure_reason();
    throw Error(ErrorCode::kData, fmt::format("'{}' is not a readable image: {}", file.string(),
                                              why && *why ? why : "it is cut off or damaged"));
  }
  const auto size = static_cast<std::size_t>(width) * static_cast<std::size_t>(height) * 3;
  return {width, height, {pixels.get(), pixels.get() + size}};
}

void write_planes(const unsigned char* pixels, std::int64_t stride_bytes, std::int64_t width,
                  std::int64_t height, bool mirrored, float* planes) {
  for (std::size_t c = 0; c < 3; ++c)
    for (std::int64_t y = 0; y < height; ++y) {
      const unsigned char* row = pixels + y * stride_bytes + c;
      for (std::int64_t x = 0; x < width; ++x) {
        const unsigned char value = row[3 * (mirrored ? width - 1 - x : x)];
        *planes++ = (static_cast<float>(value) / 255.0F - kImageNetMean[c]) / kImageNetDeviation[c];
      }
    }
}

}  // namespace paceline::workload
