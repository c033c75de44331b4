// SPDX-License-Identifier: MIT
#include "host/machine/cpu_choice.h"

#include <algorithm>

#include "host/machine/affinity.h"
#include "host/machine/cgroup.h"
#include "host/machine/cpu.h"
#include "host/system_files.h"

namespace paceline::host {
namespace {

// All CPUs that this process may run on, one of each physical core first.
std::vector<int> cpus_of_mask() {
  const SystemFiles files;
  auto cpus = cores_first(files, current_affinity());
  if (cpus.empty()) cpus = read_cpu(files, {}).online;
  if (cpus.empty()) cpus.push_back(0);
  return cpus;
}

// How many of these CPUs the control group's quota allows.
std::size_t paid_for(const std::vector<int>& cpus) {
  const SystemFiles files;
  const auto count = allowed_cpu_count(cpus.size(), cgroup_cpu_quota(files, Cgroups(files)));
  return std::min(cpus.size(), static_cast<std::size_t>(count));
}

}  // namespace

std::vector<int> allowed_cpus() {
  auto cpus = cpus_of_mask();
  cpus.resize(paid_for(cpus));
  return cpus;
}

std::vector<int> take_near(std::vector<int>& pool, const std::vector<int>& near, std::size_t count) {
  const auto within = [](const std::vector<int>& cpus) {
    return [&cpus](int cpu) { return std::find(cpus.begin(), cpus.end(), cpu) != cpus.end(); };
  };
  auto taken = pool;
  std::stable_partition(taken.begin(), taken.end(), within(near));
  taken.resize(std::min(count, taken.size()));
  std::erase_if(pool, within(taken));
  return taken;
}

std::vector<int> choose_cpus_near(const std::vector<std::vector<int>>& near, long long each) {
  auto pool = cpus_of_mask();
  auto left = paid_for(pool);
  std::vector<int> chosen;
  for (const auto& mine : near) {
    const auto taken = take_near(pool, mine, std::min(left, static_cast<std::size_t>(std::max(1LL, each))));
    left -= taken.size();
    chosen.insert(chosen.end(), taken.begin(), taken.end());
  }
  return chosen;
}

std::vector<int> choose_cpus(long long threads) {
  auto cpus = allowed_cpus();
  const auto wanted = static_cast<std::size_t>(std::max(1LL, threads));
  cpus.resize(std::min(cpus.size(), wanted));
  return cpus;
}

}  // namespace paceline::host
