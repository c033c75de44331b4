// SPDX-License-Identifier: MIT
// The data source of a file of token ids.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <string_view>

#include "base/error.h"
#include "base/mapped_file.h"
#include "base/npy.h"
#include "base/units.h"
#include "workload/training/data/sources.h"

namespace paceline::workload {
namespace fs = std::filesystem;
namespace {

struct Suffix {
  std::string_view name;
  std::size_t bytes;  // per token, little-endian
};
constexpr std::array<Suffix, 3> kSuffixes{{{".bin", 2}, {".u16", 2}, {".u32", 4}}};
constexpr std::string_view kArray = "\x93NUMPY";

// How tokens lie in a file.
struct Layout {
  std::size_t begin = 0, bytes = 2;
  bool is_signed = false;
};

struct ArrayType {
  DType dtype;
  bool is_signed;
};
constexpr std::array<ArrayType, 5> kArrayTypes{{{DType::kUInt16, false},
                                                {DType::kInt32, true},
                                                {DType::kUInt32, false},
                                                {DType::kInt64, true},
                                                {DType::kUInt64, false}}};

Layout layout_of_array(const fs::path& path, std::size_t size) {
  const auto spec = read_npy_spec(path);
  const auto* const type = std::ranges::find(kArrayTypes, spec.dtype, &ArrayType::dtype);
  if (type == kArrayTypes.end())
    throw Error(ErrorCode::kData,
                fmt::format("'{}' is an array of {}; token ids are uint16, uint32, int32 or int64",
                            path.string(), dtype_name(spec.dtype)));
  const auto bytes = dtype_size_bytes(spec.dtype);
  return {size - static_cast<std::size_t>(element_count(spec.shape)) * bytes, bytes, type->is_signed};
}

// Ids of most vocabularies are below 2^18, so that wider numbers have a part that is almost nothing.
bool looks_wider(std::string_view bytes, std::size_t have, std::size_t wide) {
  constexpr std::size_t kMost = 1U << 16U, kFewest = 32;  // numbers that are looked at
  constexpr unsigned kAlmostNothing = 3;
  const auto count = std::min(bytes.size() / wide, kMost);
  if (bytes.size() % wide != 0 || count < kFewest) return false;
  const auto part = [&](std::size_t at) {
    std::uint64_t value = 0;
    std::memcpy(&value, bytes.data() + at, have);
    return value;
  };
  std::uint64_t low = 0, high = 0;
  for (std::size_t i = 0; i < count; ++i) {
    low = std::max(low, part(i * wide));
    for (std::size_t at = have; at < wide; at += have) high = std::max(high, part(i * wide + at));
  }
  return high <= kAlmostNothing && low > kAlmostNothing;
}

void check_width(const fs::path& path, std::string_view bytes, std::size_t have) {
  for (const std::size_t wide : {std::size_t{8}, std::size_t{4}})
    if (wide > have && looks_wider(bytes, have, wide))
      throw Error(ErrorCode::kData,
                  fmt::format("'{}' looks like {}, and its name says uint{}; {}", path.string(),
                              wide == 8 ? "int64" : "uint32", 8 * have,
                              wide == 8 ? "save it as .npy, or as uint32 in a file .u32" : "name it .u32"));
}

Layout layout_of(const fs::path& path, std::string_view bytes) {
  if (bytes.starts_with(kArray)) return layout_of_array(path, bytes.size());
  for (const auto& suffix : kSuffixes) {
    if (path.extension() != suffix.name) continue;
    check_width(path, bytes, suffix.bytes);
    return {0, suffix.bytes, false};
  }
  throw Error(
      ErrorCode::kConfig,
      fmt::format("data.path '{}' should end in .bin or .u16 (tokens as uint16), .u32 (uint32) or .npy",
                  path.string()));
}

// Sample i is the i-th window of as many tokens as the model takes; windows do not overlap.
class TokenSource : public Source {
 public:
  explicit TokenSource(const SourceSetup& setup)
      : path_(setup.data.path),
        file_(path_),
        layout_(layout_of(path_, file_.bytes())),
        length_(setup.shape.tokens),
        vocabulary_(setup.vocabulary) {
    if ((file_.size() - layout_.begin) % layout_.bytes != 0)
      throw Error(ErrorCode::kData,
                  fmt::format("'{}' contains {} bytes, which are no whole tokens of {} bytes", path_.string(),
                              file_.size(), layout_.bytes));
    if (samples() == 0)
      throw Error(ErrorCode::kData, fmt::format("'{}' contains {} tokens, one sample takes {}",
                                                path_.string(), tokens(), length_));
  }

  [[nodiscard]] std::int64_t samples() const override { return tokens() / length_; }

  [[nodiscard]] std::string contents() const override {
    return fmt::format("{} of {} bytes; left out: {}", plural(tokens(), "token"), layout_.bytes,
                       plural(tokens() % length_, "token"));
  }

  void read(std::int64_t index, Draws, const SampleMemory& sample) const override {
    for (std::int64_t i = 0; i < length_; ++i) {
      const std::int64_t token = token_at(index * length_ + i);
      if (token < 0 || (vocabulary_ > 0 && token >= vocabulary_)) refuse(index * length_ + i, token);
      sample.tokens[i] = token;
    }
  }

 private:
  [[nodiscard]] std::int64_t tokens() const {
    return static_cast<std::int64_t>((file_.size() - layout_.begin) / layout_.bytes);
  }
  [[nodiscard]] std::int64_t token_at(std::int64_t place) const {
    const auto* from = file_.data() + layout_.begin + static_cast<std::size_t>(place) * layout_.bytes;
    if (layout_.is_signed && layout_.bytes == sizeof(std::int32_t)) {
      std::int32_t token = 0;
      std::memcpy(&token, from, sizeof token);
      return token;
    }
    std::uint64_t token = 0;
    std::memcpy(&token, from, layout_.bytes);
    return static_cast<std::int64_t>(token);
  }
  [[noreturn]] void refuse(std::int64_t place, std::int64_t token) const {
    throw Error(
        ErrorCode::kData,
        fmt::format("token {} of '{}' is {}, the model knows ids from 0 and below {}; was the file made "
                    "with another tokenizer, or as uint{}?",
                    place, path_.string(), token, vocabulary_, layout_.bytes == 2 ? 32 : 16));
  }

  fs::path path_;
  MappedFile file_;
  Layout layout_;
  std::int64_t length_, vocabulary_;
};

}  // namespace

std::unique_ptr<Source> make_token_file(const SourceSetup& setup) {
  if (setup.data.path.empty())
    throw Error(ErrorCode::kConfig, "data.source token_file needs data.path: a file of token ids");
  return std::make_unique<TokenSource>(setup);
}

}  // namespace paceline::workload
