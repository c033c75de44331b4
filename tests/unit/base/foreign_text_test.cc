// SPDX-License-Identifier: MIT
// Limits of what others wrote: the table that users read, and JSON that would take memory.
#include "base/foreign_text.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "base/bounded_json.h"
#include "base/error.h"
#include "base/file.h"
#include "base/scratch_folder.h"

namespace paceline {
namespace {

std::string repeated(std::string_view text, std::size_t times) {
  std::string all;
  for (std::size_t i = 0; i < times; ++i) all += text;
  return all;
}

std::string size_text(std::uint64_t bytes) {
  if (bytes % (1ULL << 30) == 0) return fmt::format("{} GiB", bytes >> 30);
  if (bytes % (1ULL << 20) == 0) return fmt::format("{} MiB", bytes >> 20);
  if (bytes % 1'000'000 == 0) return fmt::format("{} MB", bytes / 1'000'000);
  return bytes % 1024 == 0 ? fmt::format("{} KiB", bytes >> 10) : fmt::format("{} bytes", bytes);
}

std::string reason_of(const std::string& json) {
  try {
    (void)parsed_json(json);
  } catch (const nlohmann::json::parse_error& e) {
    return e.what();
  }
  return "";
}

TEST(ForeignText, SecurityMdHasTheTable) {
  std::string table = "| what | size | depth | time |\n|---|---|---|---|\n";
  for (const auto& row : foreign_limits())
    table += fmt::format("| {} | {} | {} | {} |\n", row.reader, size_text(row.bytes),
                         row.depth == 0 ? "-" : std::to_string(row.depth), row.time);
  EXPECT_NE(read_file(PACELINE_SOURCE_DIR "/SECURITY.md").find(table), std::string::npos)
      << "SECURITY.md should have:\n"
      << table;
}

TEST(ForeignText, EveryKindHasARow) {
  for (int kind = 0; kind <= static_cast<int>(Foreign::kImage); ++kind) {
    const auto what = static_cast<Foreign>(kind);
    EXPECT_EQ(limit_of(what).what, what);
    EXPECT_GT(limit_of(what).bytes, 0U);
  }
}

TEST(ForeignText, AFileOfMoreThanItsKindMayHaveIsNamedByItsSize) {
  const auto folder = ScratchFolder::below_temp("foreign-text");
  const auto file = folder.path() / "plugin.json";
  write_file_atomic(file, std::string((1 << 20) + 1, ' '));
  EXPECT_TRUE(too_large(file, Foreign::kManifest));
  EXPECT_FALSE(too_large(file, Foreign::kTable));
  EXPECT_THROW((void)read_foreign(file, Foreign::kManifest), Error);
  EXPECT_THROW((void)read_stored(file, Foreign::kManifest), Error);
  EXPECT_EQ(read_foreign(file, Foreign::kTable).size(), (1U << 20) + 1);
}

TEST(BoundedJson, NestedTooDeepIsRefusedWhereItIs) {
  const auto deep = [](std::size_t levels) {
    return repeated("{\"a\":[", levels / 2) + repeated("]}", levels / 2);
  };
  EXPECT_EQ(reason_of(deep(kMostNested)), "");
  EXPECT_NE(reason_of(deep(kMostNested + 2)).find("byte 193: nested deeper than 64 levels"),
            std::string::npos)
      << reason_of(deep(kMostNested + 2));
  EXPECT_TRUE(json_or_discarded(std::string(50'000'000, '[')).is_discarded());
}

TEST(BoundedJson, BracketsInTextsAreNoLevels) {
  const std::string text = R"({"a\\":"\"[[[[", "b":")" + std::string(1000, '[') + R"("})";
  EXPECT_EQ(json_or_discarded(text), nlohmann::json::parse(text));
  EXPECT_TRUE(json_or_discarded("\"open").is_discarded());
  EXPECT_TRUE(json_or_discarded("\"open\\").is_discarded());
}

}  // namespace
}  // namespace paceline
