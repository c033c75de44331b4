// SPDX-License-Identifier: MIT
#include "base/sha256.h"

#include <fmt/format.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <vector>

#include "base/error.h"
#include "base/reading.h"

namespace paceline {

namespace {

void require(int success) {
  if (success != 1) throw Error(ErrorCode::kInternal, "libcrypto cannot compute SHA-256");
}

}  // namespace

Sha256::Sha256() : state_(EVP_MD_CTX_new()) {
  require(state_ ? EVP_DigestInit_ex(state_.get(), EVP_sha256(), nullptr) : 0);
}

void Sha256::update(std::string_view bytes) {
  require(EVP_DigestUpdate(state_.get(), bytes.data(), bytes.size()));
}

std::string Sha256::finish_hex() {
  std::array<unsigned char, EVP_MAX_MD_SIZE> digest{};
  unsigned size = 0;
  require(EVP_DigestFinal_ex(state_.get(), digest.data(), &size));
  return fmt::format("{:02x}", fmt::join(digest.begin(), digest.begin() + size, ""));
}

std::string sha256_hex(std::string_view bytes) {
  Sha256 hash;
  hash.update(bytes);
  return hash.finish_hex();
}

std::string sha256_file(const std::filesystem::path& path) {
  check_regular_file(path);
  std::ifstream file(path, std::ios::binary);
  if (!file) {
    throw Error(ErrorCode::kIo, fmt::format("cannot read {}: {}", path.string(), std::strerror(errno)));
  }
  Sha256 hash;
  std::vector<char> piece(1 << 16);
  while (file.read(piece.data(), static_cast<std::streamsize>(piece.size())) || file.gcount() > 0) {
    hash.update({piece.data(), static_cast<std::size_t>(file.gcount())});
  }
  if (file.bad() || !file.eof()) {
    throw Error(ErrorCode::kIo, fmt::format("cannot read {} to its end", path.string()));
  }
  return hash.finish_hex();
}

}  // namespace paceline
