// SPDX-License-Identifier: MIT
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

namespace paceline {

// Computes SHA-256 (FIPS 180-4), for naming and comparing files; not for secrets.
class Sha256 {
 public:
  void update(std::string_view bytes);
  // 64 lower-case hexadecimal digits. Ends the stream: update must not follow.
  [[nodiscard]] std::string finish_hex();

 private:
  void absorb(const unsigned char* block);

  std::array<std::uint32_t, 8> state_{0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                                      0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
  std::array<unsigned char, 64> block_{};
  std::size_t filled_ = 0;
  std::uint64_t total_bytes_ = 0;
};

std::string sha256_hex(std::string_view bytes);

// Reads in pieces, so that large files need no memory. Throws Error(kIo) naming the path.
std::string sha256_file(const std::filesystem::path& path);

}  // namespace paceline
