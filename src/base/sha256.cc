// SPDX-License-Identifier: MIT
#include "base/sha256.h"

#include <fmt/format.h>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <vector>

#include "base/error.h"
#include "base/reading.h"

namespace paceline {

void Sha256::update(std::string_view bytes) {
  SHA256Update(&state_, reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size());
}

std::string Sha256::finish_hex() {
  std::string hex(SHA256_DIGEST_STRING_LENGTH, '\0');
  SHA256End(&state_, hex.data());
  hex.pop_back();  // the terminating zero
  return hex;
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
