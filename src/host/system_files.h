// SPDX-License-Identifier: MIT
#pragma once
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace paceline::host {

// The only way in which this layer reads /proc and /sys. Paths are relative ("proc/stat"); tests use a
// recorded tree as root. Nothing here throws: for an absent or unreadable file the answer is empty.
class SystemFiles {
 public:
  explicit SystemFiles(std::filesystem::path root = "/") : root_(std::move(root)) {}

  [[nodiscard]] std::filesystem::path path(std::string_view relative) const { return root_ / relative; }
  [[nodiscard]] std::optional<std::string> read(std::string_view path) const;
  [[nodiscard]] std::optional<std::string> read_trimmed(std::string_view path) const;
  [[nodiscard]] std::optional<long long> read_int(std::string_view path) const;
  [[nodiscard]] std::vector<std::string> list(std::string_view folder) const;  // sorted names
  [[nodiscard]] std::optional<std::string> link_target(std::string_view path) const;
  [[nodiscard]] bool exists(std::string_view path) const;
  // True when the whole text was accepted; only used for /proc/self/clear_refs.
  [[nodiscard]] bool write(std::string_view path, std::string_view text) const;

 private:
  std::filesystem::path root_;
};

// The value after "<key>" and a separator (':' or blanks) at a line start: "MemTotal:  24684084 kB" ->
// "24684084 kB".
std::optional<std::string_view> find_field(std::string_view text, std::string_view key);

// The leading integer of such a value: "24684084 kB" -> 24684084.
std::optional<long long> find_int_field(std::string_view text, std::string_view key);

// Parses the kernel's CPU lists: "0-3,8,10-11". Empty for malformed text.
std::vector<int> parse_cpu_list(std::string_view text);
std::string format_cpu_list(const std::vector<int>& cpus);

// Words between blanks.
std::vector<std::string> words_of(std::string_view text);

// The choice in brackets: "always [madvise] never" -> "madvise".
std::optional<std::string> bracketed_choice(std::string_view text);

}  // namespace paceline::host
