// SPDX-License-Identifier: MIT
#pragma once
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace paceline::workload {

// A file that somebody publishes, which is fetched from `url` and checked by size and digest.
struct PublishedFile {
  std::string_view name, page, url, sha256;
  std::int64_t bytes;
};

// Throws Error(kData) when `file` has another size or digest.
void check_published(const std::filesystem::path& file, const PublishedFile& published);

// A program and its arguments; the output file and the URL follow.
using FetchTool = std::vector<std::string>;
extern const std::vector<FetchTool> kFetchTools;  // curl, wget

// Fetches the file with the first tool that is installed, checks it, and puts it into `folder` under its
// name. Throws Error(kUnavailable) without a tool or when it failed, Error(kData) when another file came, and
// Error(kIo).
void fetch_published(const PublishedFile& published, const std::filesystem::path& folder,
                     const std::vector<FetchTool>& tools = kFetchTools);

}  // namespace paceline::workload
