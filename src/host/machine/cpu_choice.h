// SPDX-License-Identifier: MIT
// Chooses CPUs for the threads of a measurement.
#pragma once
#include <cstddef>
#include <vector>

namespace paceline::host {

// The CPUs that this process can keep busy at once: those of its affinity mask, one of each physical core
// first, but no more than the cgroup's quota (rounded down). At least one.
std::vector<int> allowed_cpus();

// Chooses `threads` of these, one of each physical core before second hardware threads; all of them when
// there are fewer.
std::vector<int> choose_cpus(long long threads);

// Serves several parties, each with `each` CPUs that no other has; one after the other takes those in its
// list of `near` first. All in one list, as far as there are enough.
std::vector<int> choose_cpus_near(const std::vector<std::vector<int>>& near, long long each);

// Takes `count` CPUs out of `pool`, or all of them, those in `near` first and otherwise in its order.
std::vector<int> take_near(std::vector<int>& pool, const std::vector<int>& near, std::size_t count);

}  // namespace paceline::host
