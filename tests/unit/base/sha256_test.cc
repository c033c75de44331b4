// SPDX-License-Identifier: MIT
#include "base/sha256.h"

#include <gtest/gtest.h>

#include <fstream>

#include "base/error.h"

namespace paceline {
namespace {

// FIPS 180-4 examples, and the lengths around the padding boundary (values from coreutils' sha256sum).
TEST(Sha256, MatchesPublishedVectors) {
  EXPECT_EQ(sha256_hex(""), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  EXPECT_EQ(sha256_hex("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  EXPECT_EQ(sha256_hex("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq"),
            "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
  EXPECT_EQ(sha256_hex(std::string(1'000'000, 'a')),
            "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

TEST(Sha256, MatchesCoreutilsAroundThePaddingBoundary) {
  EXPECT_EQ(sha256_hex(std::string(55, 'a')),
            "9f4390f8d30c2dd92ec9f095b65e2b9ae9b0a925a5258e241c9f1e910f734318");
  EXPECT_EQ(sha256_hex(std::string(56, 'a')),
            "b35439a4ac6f0948b6d6f9e3c6af0f5f590ce20f1bde7090ef7970686ec6738a");
  EXPECT_EQ(sha256_hex(std::string(63, 'a')),
            "7d3e74a05d7db15bce4ad9ec0658ea98e3f06eeecf16b4c6fff2da457ddc2f34");
  EXPECT_EQ(sha256_hex(std::string(64, 'a')),
            "ffe054fe7ae0cb6dc65c3af9b61d5209f439851db43d0ba5997337df154668eb");
  EXPECT_EQ(sha256_hex(std::string(119, 'a')),
            "31eba51c313a5c08226adf18d4a359cfdfd8d2e816b13f4af952f7ea6584dcfb");
  EXPECT_EQ(sha256_hex(std::string(120, 'a')),
            "2f3d335432c70b580af0e8e1b3674a7c020d683aa5f73aaaedfdc55af904c21c");
}

TEST(Sha256, PiecesGiveTheSameDigestAsTheWhole) {
  std::string text;
  for (int i = 0; i < 500; ++i) text.push_back(static_cast<char>(i * 7));
  for (const std::size_t piece : {1U, 3U, 63U, 64U, 65U, 200U}) {
    Sha256 hash;
    for (std::size_t at = 0; at < text.size(); at += piece)
      hash.update(std::string_view(text).substr(at, piece));
    EXPECT_EQ(hash.finish_hex(), sha256_hex(text)) << piece;
  }
}

TEST(Sha256, FileDigestEqualsThatOfItsBytes) {
  const auto path = std::filesystem::path(testing::TempDir()) / "paceline_sha256_test.bin";
  const std::string bytes(200'001, 'x');
  std::ofstream(path, std::ios::binary) << bytes;
  EXPECT_EQ(sha256_file(path), sha256_hex(bytes));
  std::filesystem::remove(path);
  EXPECT_THROW(sha256_file(path), Error);
}

}  // namespace
}  // namespace paceline
