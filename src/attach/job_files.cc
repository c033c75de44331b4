// SPDX-License-Identifier: MIT
#include "attach/job_files.h"

#include <algorithm>
#include <functional>
#include <map>
#include <utility>

namespace paceline::attach {
namespace {

using Places = std::span<const FilePlace>;
using Indices = std::vector<std::size_t>;

constexpr std::uint64_t kFewestSteps = 2;  // between which there is a time

// Files of each rank, the newest first.
std::map<std::int64_t, Indices> by_rank(Places places, const Indices& known) {
  std::map<std::int64_t, Indices> ranks;
  for (const auto i : known) ranks[places[i].rank].push_back(i);
  for (auto& [rank, files] : ranks)
    std::ranges::stable_sort(files, std::greater{}, [&](std::size_t i) { return places[i].started_ns; });
  return ranks;
}

bool has_steps(const FilePlace& place) {
  return place.steps >= kFewestSteps;
}

// Keeps the files whose number of ranks is that of the newest with steps.
Indices of_one_world(Places places, Indices files) {
  const auto age = [&](std::size_t i) { return std::pair(has_steps(places[i]), places[i].started_ns); };
  const auto world = places[*std::ranges::max_element(files, {}, age)].world;
  std::erase_if(files, [&](std::size_t i) { return places[i].world != world; });
  return files;
}

// The newest start but `back`; of a rank that was started less often, its first.
Indices start_of(Places places, const std::map<std::int64_t, Indices>& ranks, std::size_t back) {
  Indices files;
  for (const auto& [rank, starts] : ranks) files.push_back(starts[std::min(back, starts.size() - 1)]);
  return of_one_world(places, std::move(files));
}

Indices chosen(Places places, const std::map<std::int64_t, Indices>& ranks) {
  std::size_t most = 0;
  for (const auto& [rank, starts] : ranks) most = std::max(most, starts.size());
  for (std::size_t back = 0; back < most; ++back) {
    auto files = start_of(places, ranks, back);
    if (std::ranges::all_of(files, [&](std::size_t i) { return has_steps(places[i]); })) return files;
  }
  return start_of(places, ranks, 0);
}

}  // namespace

JobFiles job_files(Places places) {
  JobFiles found;
  Indices known;
  for (std::size_t i = 0; i < places.size(); ++i) (places[i].rank_known ? known : found.apart).push_back(i);
  if (known.empty() && !found.apart.empty()) {
    const auto most =
        std::ranges::max_element(found.apart, {}, [&](std::size_t i) { return places[i].steps; });
    found.job = {*most};
    found.apart.erase(most);
    return found;
  }
  if (known.empty()) return found;
  found.job = chosen(places, by_rank(places, known));
  for (const auto i : known)
    if (std::ranges::find(found.job, i) == found.job.end()) found.others.push_back(i);
  return found;
}

}  // namespace paceline::attach
