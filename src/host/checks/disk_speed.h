// SPDX-License-Identifier: MIT
// How fast a folder's disk takes and gives bytes: a nameless file of at most 64 MB, for about half a second.
#pragma once
#include <cstdint>
#include <filesystem>
#include <string>

#include "base/maybe.h"

namespace paceline::host {

struct DiskSpeed {
  std::string refusal;  // why nothing can be written there; empty: it can
  Number write_per_s;   // bytes, until they are on the disk
  Number read_per_s;    // missing where the file system keeps what was written in memory
};

// Writes at most a quarter of `room_bytes`. Nothing stays behind, whatever happens.
DiskSpeed measure_disk(const std::filesystem::path& folder, std::int64_t room_bytes);

// "writes 512 MB/s, reads 1.20 GB/s"
std::string in_words(const DiskSpeed& speed);

}  // namespace paceline::host
