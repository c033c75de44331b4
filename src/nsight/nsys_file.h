// SPDX-License-Identifier: MIT
// Reads what Nsight Systems exports with `nsys export --type sqlite`.
#pragma once
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace paceline::nsight {

// Times in ns on the clock of the file.
struct Activity {
  std::int64_t start = 0, end = 0, device = 0, stream = 0;
  std::int64_t process = 0;           // each counts its devices from 0; 0: not known
  std::optional<std::int64_t> asked;  // when the host's call for it ended; missing: not traced
};
struct Kernel : Activity {
  std::string name;
};
enum class CopyKind { kHostToDevice, kDeviceToHost, kDeviceToDevice, kOther };
struct Copy : Activity {
  CopyKind kind = CopyKind::kOther;
  std::int64_t bytes = 0;
  bool pageable = false;  // one end is host memory that is not pinned
};

// A part of the program's work as NVTX names it, or a call for CUDA.
struct NamedRange {
  std::string name;
  std::int64_t start = 0, end = 0, process = 0;  // process 0: not known
};

struct NsysFile {
  std::vector<Kernel> kernels;     // by start
  std::vector<Copy> copies;        // likewise
  std::vector<Activity> graphs;    // CUDA graphs that were traced as a whole, without their kernels
  std::vector<Activity> fills;     // of memory
  std::vector<NamedRange> ranges;  // by start
  std::vector<NamedRange> calls;   // of CUDA's runtime, by the host, by start
  std::vector<std::string> remarks;
};

// Throws Error(kData) for a file that is no such export, or is damaged, and Error(kIo).
NsysFile read_nsys_file(const std::filesystem::path& file);

}  // namespace paceline::nsight
