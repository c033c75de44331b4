// SPDX-License-Identifier: MIT
#include "host/machine/cgroup.h"

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include "base/text.h"

namespace paceline::host {
namespace {

constexpr std::array<std::string_view, 3> kControllers{"cpu", "cpuset", "memory"};
constexpr long long kNoV1Limit = 1LL << 62;  // v1 writes "no limit" as 2^63 rounded down to a page

struct Mount {
  bool v2 = false;
  std::string root;                      // which group is mounted
  std::string point;                     // its path without the leading slash
  std::vector<std::string> controllers;  // of version 1
};

bool contains(const std::vector<std::string>& list, std::string_view word) {
  return std::find(list.begin(), list.end(), word) != list.end();
}

// One line of mountinfo: "31 23 0:28 ROOT POINT options [tags] - TYPE source SUPER_OPTIONS".
std::optional<Mount> parse_mount(std::string_view line) {
  const auto words = words_of(line);
  const auto dash = std::find(words.begin(), words.end(), "-");
  if (words.size() < 10 || words.end() - dash < 4 || dash - words.begin() < 6) return std::nullopt;
  const std::string& type = *(dash + 1);
  if (type != "cgroup" && type != "cgroup2") return std::nullopt;
  const std::string point = words[4].starts_with('/') ? words[4].substr(1) : words[4];
  return Mount{type == "cgroup2", words[3], point, split(*(dash + 3), ',')};
}

std::vector<Mount> read_mounts(const SystemFiles& files) {
  std::vector<Mount> mounts;
  for (const auto& line : split(files.read("proc/self/mountinfo").value_or(""), '\n')) {
    if (auto mount = parse_mount(line)) mounts.push_back(std::move(*mount));
  }
  return mounts;
}

// The group's path below the mount point; none when the group is not visible there.
std::optional<std::string> below_mount(std::string_view group, std::string_view root) {
  if (root == "/") return std::string(group == "/" ? "" : group);
  if (!group.starts_with(root)) return std::nullopt;
  group.remove_prefix(root.size());
  if (!group.empty() && !group.starts_with('/')) return std::nullopt;
  return std::string(group);
}

GroupFolders folders_upwards(const SystemFiles& files, const Mount& mount, std::string_view group) {
  const auto own = below_mount(group, mount.root);
  GroupFolders folders;
  std::string path = own.value_or("");
  for (;;) {
    const std::string folder = mount.point + path;
    const bool visible = path.find("..") == std::string::npos && files.exists(folder);
    if (visible && path == own) folders.own_first = true;
    if (visible) folders.upwards.push_back(folder);
    if (path.empty()) return folders;
    path.resize(path.rfind('/'));
  }
}

// "hierarchy:controllers:path"; the path may hold colons itself.
struct Membership {
  bool v2 = false;
  std::vector<std::string> controllers;
  std::string path;
};
std::vector<Membership> read_memberships(const SystemFiles& files) {
  std::vector<Membership> all;
  for (const auto& line : split(files.read("proc/self/cgroup").value_or(""), '\n')) {
    const std::size_t first = line.find(':'), second = line.find(':', first + 1);
    if (first == std::string::npos || second == std::string::npos || line.size() <= second + 1) continue;
    if (line[second + 1] != '/') continue;
    const std::string names = line.substr(first + 1, second - first - 1);
    all.push_back({names.empty(), split(names, ','), line.substr(second + 1)});
  }
  return all;
}

template <typename Match>
GroupFolders hierarchy(const SystemFiles& files, const std::vector<Mount>& mounts,
                       const std::vector<Membership>& memberships, const Match& match) {
  const auto mount = std::find_if(mounts.begin(), mounts.end(), match);
  const auto member = std::find_if(memberships.begin(), memberships.end(), match);
  if (mount == mounts.end() || member == memberships.end()) return {};
  return folders_upwards(files, *mount, member->path);
}

template <typename T>
void keep_smaller(std::optional<T>& best, std::optional<T> value) {
  if (value && (!best || *value < *best)) best = value;
}

std::optional<double> quota_v1(const SystemFiles& files, const std::string& folder) {
  const auto quota = files.read_int(folder + "/cpu.cfs_quota_us");
  const auto period = files.read_int(folder + "/cpu.cfs_period_us");
  if (!quota || !period || *quota <= 0 || *period <= 0) return std::nullopt;
  return static_cast<double>(*quota) / static_cast<double>(*period);
}

// "max 100000" or "150000 100000".
std::optional<double> quota_v2(const SystemFiles& files, const std::string& folder) {
  const auto words = words_of(files.read(folder + "/cpu.max").value_or(""));
  if (words.size() != 2) return std::nullopt;
  const auto quota = parse_int(words[0]), period = parse_int(words[1]);
  if (!quota || !period || *quota <= 0 || *period <= 0) return std::nullopt;
  return static_cast<double>(*quota) / static_cast<double>(*period);
}

std::optional<std::int64_t> limit_in(const SystemFiles& files, const std::string& file) {
  const auto limit = files.read_int(file);
  if (!limit || *limit < 0 || *limit >= kNoV1Limit) return std::nullopt;
  return *limit;
}

std::optional<long long> int_field_in(const SystemFiles& files, const std::string& file,
                                      std::string_view key) {
  const auto text = files.read(file);
  return text ? find_int_field(*text, key) : std::nullopt;
}

// Sums one counter of cpu.stat over the groups; `names` has its name and unit in versions 2 and 1.
Count throttling_of(const SystemFiles& files, const Cgroups& groups,
                    const std::vector<std::pair<const char*, std::int64_t>>& names) {
  std::optional<std::int64_t> sum;
  std::vector<std::string> folders = groups.v1("cpu");
  folders.insert(folders.end(), groups.v2().begin(), groups.v2().end());
  for (const auto& folder : folders)
    for (const auto& [name, unit] : names)
      if (const auto count = int_field_in(files, folder + "/cpu.stat", name))
        sum = sum.value_or(0) + *count * unit;
  return {sum, "no cgroup with a CPU controller"};
}

}  // namespace

Cgroups::Cgroups(const SystemFiles& files) {
  const auto mounts = read_mounts(files);
  const auto memberships = read_memberships(files);
  for (const std::string_view name : kControllers) {
    const auto match = [&](const auto& one) { return !one.v2 && contains(one.controllers, name); };
    v1_.push_back({std::string(name), hierarchy(files, mounts, memberships, match)});
  }
  v2_ = hierarchy(files, mounts, memberships, [](const auto& one) { return one.v2; }).upwards;
}

const GroupFolders& Cgroups::folders_of(std::string_view controller) const {
  static const GroupFolders kNone;
  for (const auto& one : v1_) {
    if (one.controller == controller) return one.folders;
  }
  return kNone;
}

Number cgroup_cpu_quota(const SystemFiles& files, const Cgroups& groups) {
  std::optional<double> tightest;
  for (const auto& folder : groups.v1("cpu")) keep_smaller(tightest, quota_v1(files, folder));
  for (const auto& folder : groups.v2()) keep_smaller(tightest, quota_v2(files, folder));
  return {tightest, "no limit"};
}

Count cgroup_memory_limit_bytes(const SystemFiles& files, const Cgroups& groups) {
  std::optional<std::int64_t> tightest;
  for (const auto& folder : groups.v1("memory")) {
    keep_smaller(tightest, limit_in(files, folder + "/memory.limit_in_bytes"));
  }
  for (const auto& folder : groups.v2()) keep_smaller(tightest, limit_in(files, folder + "/memory.max"));
  return {tightest, "no limit"};
}

Count cgroup_throttled_periods(const SystemFiles& files, const Cgroups& groups) {
  return throttling_of(files, groups, {{"nr_throttled", 1}});
}

Number cgroup_throttled_ns(const SystemFiles& files, const Cgroups& groups) {
  const Count ns = throttling_of(files, groups, {{"throttled_usec", 1000}, {"throttled_time", 1}});
  return ns ? Number(static_cast<double>(*ns)) : Number::missing(ns.reason());
}

Count cgroup_oom_kills(const SystemFiles& files, const Cgroups& groups) {
  std::optional<std::int64_t> kills;
  if (groups.sees_own("memory")) {
    kills = int_field_in(files, groups.v1("memory").front() + "/memory.oom_control", "oom_kill");
  }
  if (!kills && !groups.v2().empty()) {
    kills = int_field_in(files, groups.v2().front() + "/memory.events", "oom_kill");
  }
  return {kills, "no cgroup counts out-of-memory kills"};
}

}  // namespace paceline::host
