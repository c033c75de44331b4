// SPDX-License-Identifier: MIT
// The table of bus bandwidths that topologies are expected to reach: a file that its users edit.
#pragma once
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "config/option_table.h"

namespace paceline::config {

enum class Hosts { kAny, kOne, kSeveral };

struct Topology {
  std::string name, about, source;
  // Properties of a run that the row fits by itself.
  std::vector<std::string> gpus;  // words of which the GPU's name has one
  Hosts hosts = Hosts::kAny;
  std::int64_t ranks = 0;  // 0: any number
  std::vector<std::string> operations;
  std::vector<std::pair<std::int64_t, double>> gb_per_s;  // by size, ascending; not empty
};

// Throws ConfigErrors with all mistakes, each with its line and key.
std::vector<Topology> parse_topologies(std::string_view yaml, const std::string& source);
// Reads `file`; if empty, the table that is installed. Throws Error(kConfig), even if there is no such file.
std::vector<Topology> read_topologies(const std::filesystem::path& file);

// Known properties of a run; `gpu` is empty where ranks are CPU processes.
struct RunShape {
  std::string operation, gpu;
  bool one_host = true;
  std::int64_t ranks = 0;
};
// The row that is named, or fits by itself; nullptr: none.
const Topology* find_topology(const std::vector<Topology>& table, const std::string& name,
                              const RunShape& shape);

// Its name, what it is about and its source.
std::string words_of(const Topology& topology);

// The expected bus bandwidth of a size; none below the first one of the row.
std::optional<double> expected_gb_per_s(const Topology& topology, std::int64_t bytes);

}  // namespace paceline::config
