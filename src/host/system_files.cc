// SPDX-License-Identifier: MIT
#include "host/system_files.h"

#include <fcntl.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/handle.h"
#include "base/text.h"

namespace paceline::host {
namespace {

constexpr std::size_t kMaxBytes = 8U << 20;  // above any file read here; guards against endless ones
constexpr int kMaxCpu = 1 << 16;

bool is_blank(char c) {
  return c == ' ' || (c >= '\t' && c <= '\r');
}

// "3" or "8-11"; false on anything else.
bool append_range(std::string_view text, std::vector<int>& cpus) {
  const std::size_t dash = text.find('-');
  const auto first = parse_int(text.substr(0, dash));
  const auto last = dash == std::string_view::npos ? first : parse_int(text.substr(dash + 1));
  if (!first || !last || *first < 0 || *last < *first || *last > kMaxCpu) return false;
  for (long long cpu = *first; cpu <= *last; ++cpu) cpus.push_back(static_cast<int>(cpu));
  return true;
}

}  // namespace

// Uses plain read(2), because files of /proc have no size and may fail half way.
std::optional<std::string> SystemFiles::read(std::string_view path) const {
  const FileDescriptor fd(::open((root_ / path).c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (!fd) return std::nullopt;
  std::string text;
  std::array<char, 16384> piece{};
  while (text.size() < kMaxBytes) {
    const ssize_t got = ::read(fd.get(), piece.data(), piece.size());
    if (got < 0) return std::nullopt;
    if (got == 0) break;
    text.append(piece.data(), static_cast<std::size_t>(got));
  }
  return text;
}

std::optional<std::string> SystemFiles::read_trimmed(std::string_view path) const {
  const auto text = read(path);
  if (!text) return std::nullopt;
  return std::string(trim(*text));
}

std::optional<long long> SystemFiles::read_int(std::string_view path) const {
  const auto text = read_trimmed(path);
  return text ? parse_int(*text) : std::nullopt;
}

std::vector<std::string> SystemFiles::list(std::string_view folder) const {
  std::vector<std::string> names;
  std::error_code error;
  std::filesystem::directory_iterator it(root_ / folder, error);
  for (; !error && it != std::filesystem::directory_iterator(); it.increment(error)) {
    names.push_back(it->path().filename().string());
  }
  std::sort(names.begin(), names.end());
  return names;
}

std::optional<std::string> SystemFiles::link_target(std::string_view path) const {
  std::error_code error;
  const auto target = std::filesystem::read_symlink(root_ / path, error);
  if (error) return std::nullopt;
  return target.string();
}

bool SystemFiles::exists(std::string_view path) const {
  std::error_code error;
  return std::filesystem::exists(root_ / path, error);
}

bool SystemFiles::write(std::string_view path, std::string_view text) const {
  const FileDescriptor fd(::open((root_ / path).c_str(), O_WRONLY | O_CLOEXEC));
  return fd && ::write(fd.get(), text.data(), text.size()) == static_cast<ssize_t>(text.size());
}

std::optional<std::string_view> find_field(std::string_view text, std::string_view key) {
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    std::string_view line = text.substr(at, end - at);
    at = end + 1;
    if (!line.starts_with(key)) continue;
    line.remove_prefix(key.size());
    const std::size_t rest = line.find_first_not_of(" \t");
    if (rest == std::string_view::npos) continue;
    if (line[rest] == ':') return trim(line.substr(rest + 1));
    if (rest > 0) return trim(line.substr(rest));
  }
  return std::nullopt;
}

std::optional<long long> find_int_field(std::string_view text, std::string_view key) {
  const auto value = find_field(text, key);
  if (!value) return std::nullopt;
  return parse_int(value->substr(0, value->find_first_of(" \t")));
}

std::vector<int> parse_cpu_list(std::string_view text) {
  std::vector<int> cpus;
  text = trim(text);
  if (text.empty()) return cpus;
  for (const auto& part : split(text, ',')) {
    if (!append_range(part, cpus)) return {};
  }
  return cpus;
}

std::string format_cpu_list(const std::vector<int>& cpus) {
  std::string out;
  for (std::size_t i = 0; i < cpus.size();) {
    std::size_t j = i;
    while (j + 1 < cpus.size() && cpus[j + 1] == cpus[j] + 1) ++j;
    out += fmt::format("{}{}", out.empty() ? "" : ",", cpus[i]);
    if (j > i) out += fmt::format("-{}", cpus[j]);
    i = j + 1;
  }
  return out;
}

std::vector<std::string> words_of(std::string_view text) {
  std::vector<std::string> words;
  for (auto at = text.begin(); at != text.end();) {
    at = std::find_if_not(at, text.end(), is_blank);
    const auto end = std::find_if(at, text.end(), is_blank);
    if (at != end) words.emplace_back(at, end);
    at = end;
  }
  return words;
}

std::optional<std::string> bracketed_choice(std::string_view text) {
  const std::size_t open = text.find('['), close = text.find(']', open);
  if (open == std::string_view::npos || close == std::string_view::npos) return std::nullopt;
  return std::string(text.substr(open + 1, close - open - 1));
}

}  // namespace paceline::host
