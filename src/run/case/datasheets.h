// SPDX-License-Identifier: MIT
// Datasheets of GPUs: the table share/device_peaks.csv, which users edit.
#pragma once
#include <filesystem>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "result/stored/device_peaks.h"

namespace paceline::run {

struct Datasheet {
  std::string device, source;
  std::vector<std::pair<std::string, double>> flops_per_s;  // by precision
  Number memory_bytes_per_s;
};

// Throws Error(kData) naming the line that is wrong.
std::vector<Datasheet> parse_datasheets(std::string_view text, const std::string& name);
// The installed table.
std::filesystem::path datasheets_file();

// Adds what the datasheet of the device says, and figures without a measurement where there are none.
void add_datasheet(result::DevicePeaks& peaks, const std::vector<Datasheet>& table);

}  // namespace paceline::run
