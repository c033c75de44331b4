// SPDX-License-Identifier: MIT
#include "run/case/model_identity.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include <optional>
#include <set>

#include "base/bounded_json.h"
#include "base/error.h"
#include "base/file.h"
#include "base/foreign_text.h"
#include "base/json.h"
#include "base/reading.h"
#include "base/sha256.h"
#include "config/vocabulary.h"
#include "run/case/content_digest.h"
#include "run/case/model_parts.h"

namespace paceline::run {
namespace fs = std::filesystem;
namespace {

using FileList = nlohmann::json;  // an array of objects: file, bytes, mtime_ns, sha256

// Files above this are compared by size and time: digests of gigabytes would delay every first result.
constexpr std::int64_t kMostDigested = std::int64_t{512} << 20;

fs::path identity_file(const CaseRun& c) {
  return c.dir / "passes" / "model.json";
}

struct FileState {
  std::int64_t bytes = 0, mtime_ns = 0;
};

std::optional<FileState> state_of(const std::string& file) {
  struct stat s {};
  if (::stat(file.c_str(), &s) != 0) return std::nullopt;
  return FileState{s.st_size, std::int64_t{s.st_mtim.tv_sec} * 1'000'000'000 + s.st_mtim.tv_nsec};
}

std::set<std::string> files_of(const CaseRun& c) {
  const auto& model = c.base.model;
  auto files = model_parts(model.file);
  if (!model.weights_file.empty()) files.insert(model.weights_file);
  const auto& schedule = c.base.inference.load.schedule_file;
  if (!schedule.empty()) files.insert(schedule);
  const auto* known = config::find_model(model.name);
  if (known && !known->folder.empty()) files.insert((fs::path(known->folder) / "config.json").string());
  return files;
}

// Empty: it is too large, or cannot be read, which the pass that reads it says.
std::string digest_of(const std::string& file, const FileState& now) {
  try {
    return now.bytes > kMostDigested ? std::string() : content_digest(file);
  } catch (const Error&) {
    return {};
  }
}

FileList list_of(const std::set<std::string>& files) {
  auto list = FileList::array();
  for (const auto& file : files)
    if (const auto now = state_of(file))
      list.push_back({{"file", file},
                      {"bytes", now->bytes},
                      {"mtime_ns", now->mtime_ns},
                      {"sha256", digest_of(file, *now)}});
  return list;
}

// Describes a difference; empty if it is the same file.
std::string change_of(const FileList::value_type& then, const std::string& file) {
  const auto now = state_of(file);
  if (!now) return {};
  const auto bytes = then.at("bytes").get<std::int64_t>();
  if (now->bytes != bytes) return fmt::format("it had {} bytes and has {}", bytes, now->bytes);
  if (now->mtime_ns == then.at("mtime_ns").get<std::int64_t>()) return {};
  const auto sha256 = then.at("sha256").get<std::string>();
  if (sha256.empty()) return "it was written at another time";
  return sha256_file(file) == sha256 ? "" : "it contains other bytes";
}

}  // namespace

std::string changed_model_file(const CaseRun& c) {
  const auto kept = identity_file(c);
  if (!fs::exists(kept)) return {};
  try {
    for (const auto& then : parsed_json(read_stored(kept, Foreign::kResult))) {
      const auto file = then.at("file").get<std::string>();
      if (const auto change = change_of(then, file); !change.empty())
        return fmt::format("'{}' is another file than when the case was measured ({})", file, change);
    }
    return {};
  } catch (const nlohmann::json::exception&) {
    return fmt::format("'{}', which identifies the model, is damaged", kept.string());
  } catch (const Error& e) {
    return fmt::format("whether the model has changed is not known: {}", e.what());
  }
}

void keep_model_identity(const CaseRun& c) {
  const auto files = files_of(c);
  const auto kept = identity_file(c);
  if (files.empty() || fs::exists(kept)) return;
  const auto list = list_of(files);
  make_directories(kept.parent_path());
  replace_file(kept, list.dump(1) + "\n");
}

}  // namespace paceline::run
