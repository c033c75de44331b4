// SPDX-License-Identifier: MIT
#include "base/base64.h"

#include <gtest/gtest.h>

namespace paceline {
namespace {

std::vector<std::uint8_t> bytes_of(std::string_view text) {
  return {text.begin(), text.end()};
}

// RFC 4648, section 10.
TEST(Base64, PublishedValues) {
  for (const auto& [plain, coded] : {std::pair{"", ""},
                                     {"f", "Zg=="},
                                     {"fo", "Zm8="},
                                     {"foo", "Zm9v"},
                                     {"foob", "Zm9vYg=="},
                                     {"fooba", "Zm9vYmE="},
                                     {"foobar", "Zm9vYmFy"}}) {
    EXPECT_EQ(base64_of(bytes_of(plain)), coded);
    EXPECT_EQ(base64_bytes(coded), bytes_of(plain));
  }
}

TEST(Base64, OtherTextIsRefused) {
  for (const char* text : {"Zg=", "Zg", "Z!==", "Zm9v Zm9", "\xff\xff\xff\xff"})
    EXPECT_FALSE(base64_bytes(text)) << text;
}

}  // namespace
}  // namespace paceline
