// SPDX-License-Identifier: MIT
// The data source of a file of token ids.
#include <fmt/format.h>

#include <array>
#include <cstring>
#include <string_view>

#include "base/error.h"
#include "base/mapped_file.h"
#include "workload/training/data/sources.h"

namespace paceline::workload {
namespace fs = std::filesystem;
namespace {

struct TokenFormat {
  std::string_view suffix;
  std::size_t bytes;  // per token, little-endian
};
constexpr std::array<TokenFormat, 3> kFormats{{{".bin", 2}, {".u16", 2}, {".u32", 4}}};

std::size_t token_bytes(const fs::path& file) {
  for (const auto& format : kFormats)
    if (file.extension() == format.suffix) return format.bytes;
  throw Error(ErrorCode::kConfig,
              fmt::format("data.path '{}' should end in .bin or .u16 (tokens as uint16) or .u32 (uint32)",
                          file.string()));
}

// Sample i is the i-th window of as many tokens as the model takes; windows do not overlap.
class TokenSource : public Source {
 public:
  explicit TokenSource(const SourceSetup& setup)
      : path_(setup.data.path),
        bytes_(token_bytes(path_)),
        file_(path_),
        length_(setup.shape.tokens),
        vocabulary_(setup.vocabulary) {
    if (file_.size() % bytes_ != 0)
      throw Error(ErrorCode::kData,
                  fmt::format("'{}' contains {} bytes, which are no whole tokens of {} bytes", path_.string(),
                              file_.size(), bytes_));
    if (samples() == 0)
      throw Error(ErrorCode::kData, fmt::format("'{}' contains {} tokens, one sample takes {}",
                                                path_.string(), file_.size() / bytes_, length_));
  }

  [[nodiscard]] std::int64_t samples() const override {
    return static_cast<std::int64_t>(file_.size() / bytes_) / length_;
  }

  void read(std::int64_t index, Draws, const SampleMemory& sample) const override {
    for (std::int64_t i = 0; i < length_; ++i) {
      const std::int64_t token = token_at(index * length_ + i);
      if (vocabulary_ > 0 && token >= vocabulary_) refuse(index * length_ + i, token);
      sample.tokens[i] = token;
    }
  }

 private:
  [[nodiscard]] std::int64_t token_at(std::int64_t place) const {
    std::uint32_t token = 0;
    std::memcpy(&token, file_.data() + static_cast<std::size_t>(place) * bytes_, bytes_);
    return token;
  }
  [[noreturn]] void refuse(std::int64_t place, std::int64_t token) const {
    throw Error(ErrorCode::kData,
                fmt::format("token {} of '{}' is {}, the model knows ids below {}; was the file made with "
                            "another tokenizer, or as uint{}?",
                            place, path_.string(), token, vocabulary_, bytes_ == 2 ? 32 : 16));
  }

  fs::path path_;
  std::size_t bytes_;
  MappedFile file_;
  std::int64_t length_, vocabulary_;
};

}  // namespace

std::unique_ptr<Source> make_token_file(const SourceSetup& setup) {
  if (setup.data.path.empty())
    throw Error(ErrorCode::kConfig, "data.source token_file needs data.path: a file of token ids");
  return std::make_unique<TokenSource>(setup);
}

}  // namespace paceline::workload
