// SPDX-License-Identifier: MIT
#include "base/binary_size.h"

#include <gtest/gtest.h>

namespace paceline {
namespace {

TEST(BinarySize, IsNeverRounded) {
  EXPECT_EQ(exact_bytes(64 << 20), "64 MiB");
  EXPECT_EQ(exact_bytes((64 << 20) + 1024), "65537 KiB");
  EXPECT_EQ(exact_bytes(100), "100 B");
  EXPECT_EQ(exact_bytes(0), "0 B");
}

TEST(BinarySize, IsTypedAsOptionsTakeIt) {
  EXPECT_EQ(typed_bytes(2LL << 30), "2G");
  EXPECT_EQ(typed_bytes(1536), "1536");
  EXPECT_EQ(typed_bytes(4096), "4K");
}

}  // namespace
}  // namespace paceline
