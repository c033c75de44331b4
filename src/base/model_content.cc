// SPDX-License-Identifier: MIT
#include "base/model_content.h"

#include <zip.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <fstream>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "base/foreign_text.h"
#include "base/lower_case.h"
#include "base/reading.h"

namespace paceline {
namespace fs = std::filesystem;
namespace {

constexpr std::array<std::string_view, 11> kSuffixes{".onnx", ".ort", ".xml", ".blob", ".pt",    ".ts",
                                                     ".jit",  ".pth", ".pt2", ".plan", ".engine"};
constexpr std::size_t kBeginning = 4096;
constexpr std::string_view kLfsPointer = "version https://git-lfs.github.com/spec/";

std::string beginning_of(const fs::path& file) {
  std::string bytes(kBeginning, '\0');
  std::ifstream stream(file, std::ios::binary);
  stream.read(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  bytes.resize(static_cast<std::size_t>(std::max<std::streamsize>(0, stream.gcount())));
  return bytes;
}

std::optional<std::uint64_t> varint(std::string_view& rest) {
  std::uint64_t value = 0;
  for (unsigned shift = 0; shift < 64 && !rest.empty(); shift += 7) {
    const auto byte = static_cast<unsigned char>(rest.front());
    rest.remove_prefix(1);
    value |= static_cast<std::uint64_t>(byte & 0x7F) << shift;
    if (byte < 0x80) return value;
  }
  return std::nullopt;
}

// A ModelProto as libraries write it: the version of the format, then other fields up to the graph.
bool is_onnx(std::string_view rest) {
  constexpr std::uint64_t kVersion = 1 << 3, kGraph = 7 << 3 | 2, kMostVersions = 100;
  if (varint(rest) != kVersion || varint(rest).value_or(kMostVersions) >= kMostVersions) return false;
  while (const auto key = varint(rest)) {
    if (key == kGraph) return true;
    const auto value = varint(rest);
    const bool text = (*key & 7) == 2;
    if (!value || (*key & 7 & ~2U) != 0 || (text && *value > rest.size())) return false;
    if (text) rest.remove_prefix(*value);
  }
  return false;
}

bool is_network(std::string_view text) {
  const auto start = text.find_first_not_of("\xEF\xBB\xBF \t\r\n");
  if (start == std::string_view::npos) return false;
  text.remove_prefix(start);
  return (text.starts_with("<?xml") || text.starts_with("<net")) &&
         text.find("<net") != std::string_view::npos;
}

std::vector<std::string> members_of(const fs::path& file) {
  std::vector<std::string> names;
  const std::unique_ptr<zip_t, void (*)(zip_t*)> archive(zip_open(file.c_str(), ZIP_RDONLY, nullptr),
                                                         zip_discard);
  const auto count = archive ? zip_get_num_entries(archive.get(), 0) : 0;
  for (zip_int64_t i = 0; i < count; ++i)
    if (const char* name = zip_get_name(archive.get(), static_cast<zip_uint64_t>(i), 0))
      names.emplace_back(name);
  return names;
}

bool any_has(const std::vector<std::string>& names, std::string_view part) {
  return std::any_of(names.begin(), names.end(),
                     [&](const auto& name) { return name.find(part) != std::string::npos; });
}

bool is_exported(const std::vector<std::string>& members) {
  return !any_has(members, "aotinductor/") && !any_has(members, "/constants.pkl") &&
         (any_has(members, "serialized_exported_program.json") || any_has(members, "models/"));
}

std::string suffix_of_archive(const std::vector<std::string>& members) {
  if (any_has(members, "aotinductor/") || is_exported(members)) return ".pt2";
  return any_has(members, "/constants.pkl") && any_has(members, "/code/") ? ".pt" : "";
}

}  // namespace

std::string suffix_of_content(const fs::path& file) {
  if (no_regular_file(file)) return {};
  const auto bytes = beginning_of(file);
  const std::string_view view(bytes);
  if (view.starts_with("PK\x03\x04")) return suffix_of_archive(members_of(file));
  if (view.size() > 8 && view.substr(4, 4) == "ORTM") return ".ort";
  if (view.starts_with("ptrt") || view.starts_with("ftrt")) return ".plan";
  if (is_network(view)) return ".xml";
  return is_onnx(view) ? ".onnx" : "";
}

std::string model_suffix(const std::string& file) {
  auto suffix = lower_case(fs::path(file).extension().string());
  return std::ranges::count(kSuffixes, suffix) != 0 ? suffix : suffix_of_content(file);
}

Refusal no_data_file(const fs::path& file) {
  if (auto why = no_regular_file(file)) return why;
  if (beginning_of(file).starts_with(kLfsPointer))
    return "is a pointer of Git LFS in the place of the file; fetch the file with git lfs pull";
  return std::nullopt;
}

Refusal no_model_file(const fs::path& file) {
  if (auto why = no_data_file(file)) return why;
  const auto suffix = model_suffix(file.string());
  if (file.has_extension() && suffix.empty()) return {};
  if (suffix == ".xml")
    if (auto why = too_large(file, Foreign::kNetwork))
      return *why + " of a description without its weights; it is damaged or something else";
  std::error_code unknown;
  if (fs::file_size(file, unknown) == 0 && !unknown) return "is empty; copy or download it again";
  return std::nullopt;
}

fs::path weights_of_network(const fs::path& file) {
  const bool named = lower_case(file.extension().string()) == ".xml";
  const auto with = [&](const char* suffix) {
    return named ? fs::path(file).replace_extension(suffix) : fs::path(file.string() + suffix);
  };
  std::error_code unknown;
  return !fs::exists(with(".bin"), unknown) && fs::exists(with(".BIN"), unknown) ? with(".BIN")
                                                                                 : with(".bin");
}

bool is_exported_program(const fs::path& file) {
  return is_exported(members_of(file));
}

}  // namespace paceline
