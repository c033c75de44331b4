// SPDX-License-Identifier: MIT
#pragma once
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace paceline::workload {

// A file that somebody publishes, as it is known.
struct PublishedFile {
  std::string_view name, page, url, sha256;
  std::int64_t bytes;
};

// Throws Error(kData) when `file` has another size or digest.
void check_published(const std::filesystem::path& file, const PublishedFile& published);

// A program and its arguments; the file to write and the address follow.
using FetchTool = std::vector<std::string>;
extern const std::vector<FetchTool> kFetchTools;  // curl, wget

// Has the first tool that is installed fetch the file, checks it, and puts it into `folder` under its name.
// Throws Error(kUnavailable): no tool, or it failed; Error(kData): another file came; Error(kIo).
void fetch_published(const PublishedFile& published, const std::filesystem::path& folder,
                     const std::vector<FetchTool>& tools = kFetchTools);

}  // namespace paceline::workload
