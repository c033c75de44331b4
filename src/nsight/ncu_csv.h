// SPDX-License-Identifier: MIT
// Reads what Nsight Compute prints with --csv: its pages "raw" (one row per kernel) and "details" (one row
// per value).
#pragma once
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace paceline::nsight {

// A launch of a kernel as Nsight Compute saw it.
struct KernelLaunch {
  std::string id, name, device, stream;
  // By the names that the file has ("gpu__time_duration.sum", "Achieved Occupancy"), in base units: ns,
  // bytes, Hz, percent.
  std::map<std::string, double, std::less<>> metrics;
};

struct NcuFile {
  std::vector<KernelLaunch> launches;  // in the order of the file
  std::vector<std::string> remarks;    // what was left out and why
};

// `name` stands in messages. Lines before the table ("==PROF== …") are passed over; columns may be in any
// order; numbers may have the separators of any locale, as long as the file has one kind of them. Throws
// Error(kData) for text that is no such table, or has no kernel.
NcuFile parse_ncu_csv(std::string_view text, const std::string& name);

}  // namespace paceline::nsight
