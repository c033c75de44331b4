// SPDX-License-Identifier: MIT
#pragma once
#include <filesystem>
#include <string>
#include <string_view>

namespace paceline::workload {

// One file out of a .tar.gz archive, as bytes; `name` is the end of its path there. Throws Error(kIo, kData)
// naming the archive: not one, damaged, no such file.
std::string read_tar_gz_member(const std::filesystem::path& archive, std::string_view name);

}  // namespace paceline::workload
