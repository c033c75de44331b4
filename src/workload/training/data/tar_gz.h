// SPDX-License-Identifier: MIT
#pragma once
#include <filesystem>
#include <string>
#include <string_view>

namespace paceline::workload {

// Reads one file out of a .tar.gz archive, as bytes; `name` is the end of its path there. Throws Error(kIo,
// kData) naming the archive: it is none, it is damaged, or has no such file.
std::string read_tar_gz_member(const std::filesystem::path& archive, std::string_view name);

}  // namespace paceline::workload
