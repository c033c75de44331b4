// SPDX-License-Identifier: MIT
// A bounded folder of files that one run made and a later one may use again, named after what they are made
// of.
#pragma once
#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/json.h"

namespace paceline::run {

// Each entry is one file, which ends with the SHA-256 of everything before it: one that is cut or altered is
// never used. Entries are written beside, synced and renamed, so that several processes may share the folder.
class KeptStore {
 public:
  static constexpr std::int64_t kLimitBytes = std::int64_t{1} << 30;
  // An empty `folder` keeps nothing. It is made when something is kept.
  explicit KeptStore(std::filesystem::path folder, std::int64_t limit_bytes = kLimitBytes)
      : folder_(std::move(folder)), limit_bytes_(limit_bytes) {}

  struct Taken {
    std::optional<nlohmann::json> about;  // of the entry; none: nothing was taken
    std::string problem;                  // why not, where there is a file of this name
  };
  // Says why an entry is not to be used; empty: it is.
  using Refuse = std::function<std::string(const nlohmann::json& about)>;
  // Writes the files of an entry, each under its stem's path and its suffix, and marks the entry as used.
  // Where it is not whole, or a file cannot be written, nothing is left.
  [[nodiscard]] Taken take(const std::string& key, const std::vector<std::filesystem::path>& stems,
                           const Refuse& refuse = {}) const;
  // Keeps every file whose path begins with one of `stems`. The least recently used entries make room. A
  // folder that cannot be written, or a disk without room, keeps nothing.
  void keep(const std::string& key, const nlohmann::json& about,
            const std::vector<std::filesystem::path>& stems) const;

 private:
  [[nodiscard]] std::filesystem::path file_of(const std::string& key) const { return folder_ / key; }
  void make_room(std::int64_t bytes) const;

  std::filesystem::path folder_;
  std::int64_t limit_bytes_;
};

}  // namespace paceline::run
