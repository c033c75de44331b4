// SPDX-License-Identifier: MIT
#include "run/case/peak_cache.h"

#include <utility>

#include "base/bounded_json.h"
#include "base/error.h"
#include "base/file.h"

namespace paceline::run {

std::filesystem::path peak_cache_file() {
  return cache_dir() / "peaks.json";
}

nlohmann::json read_peak_cache() {
  std::error_code error;
  if (!std::filesystem::exists(peak_cache_file(), error)) return nlohmann::json::object();
  auto json = json_or_discarded(read_file(peak_cache_file()));
  return json.is_object() ? json : nlohmann::json::object();
}

void keep_in_peak_cache(const std::string& key, nlohmann::json entry) {
  try {
    auto json = read_peak_cache();
    json[key] = std::move(entry);
    make_directories(cache_dir());
    write_file_atomic(peak_cache_file(), json.dump(1) + "\n");
  } catch (const Error&) {
    return;
  }
}

}  // namespace paceline::run
