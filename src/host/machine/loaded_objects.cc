// SPDX-License-Identifier: MIT
#include "host/machine/loaded_objects.h"

#include <link.h>
#include <sys/stat.h>

#include <cstdint>
#include <filesystem>

namespace paceline::host {
namespace {

using Json = nlohmann::json;

constexpr const char* kLoadersList = "/etc/ld.so.cache";

std::int64_t nanoseconds(const timespec& t) {
  return std::int64_t{t.tv_sec} * 1'000'000'000 + t.tv_nsec;
}

// The time of the last change of state cannot be set: it tells of a file that was replaced by another of the
// same size and time.
Json state_of(const std::string& file) {
  struct stat s {};
  if (::stat(file.c_str(), &s) != 0) return nullptr;
  return {s.st_ino, s.st_size, nanoseconds(s.st_mtim), nanoseconds(s.st_ctim)};
}

int add_name(dl_phdr_info* info, std::size_t, void* names) {
  const std::string name = info->dlpi_name ? info->dlpi_name : "";
  if (name.find('/') != std::string::npos)
    static_cast<std::set<std::string>*>(names)->insert(std::filesystem::absolute(name).string());
  return 0;
}

}  // namespace

Json states_of(const std::set<std::string>& files) {
  Json states = Json::object();
  for (const auto& file : files) states[file] = state_of(file);
  return states;
}

Json loaded_objects() {
  std::set<std::string> names{kLoadersList};
  ::dl_iterate_phdr(add_name, &names);
  return states_of(names);
}

std::string changed_file(const Json& states) {
  for (const auto& [file, state] : states.items())
    if (state_of(file) != state) return file;
  return {};
}

}  // namespace paceline::host
