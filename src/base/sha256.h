// SPDX-License-Identifier: MIT
#pragma once
#include <openssl/evp.h>

#include <filesystem>
#include <memory>
#include <string>
#include <string_view>

namespace paceline {

// Computes SHA-256 (FIPS 180-4) by libcrypto, for naming and comparing files; not for secrets.
class Sha256 {
 public:
  Sha256();
  void update(std::string_view bytes);
  // 64 lower-case hexadecimal digits. Ends the stream: update must not follow.
  [[nodiscard]] std::string finish_hex();

 private:
  struct Free {
    void operator()(EVP_MD_CTX* state) const { EVP_MD_CTX_free(state); }
  };
  std::unique_ptr<EVP_MD_CTX, Free> state_;
};

std::string sha256_hex(std::string_view bytes);

// Reads in pieces, so that large files need no memory. Throws Error(kIo) naming the path.
std::string sha256_file(const std::filesystem::path& path);

}  // namespace paceline
