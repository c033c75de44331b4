// SPDX-License-Identifier: MIT
// How messages name a launch: who started its ranks, and how other numbers of ranks are started.
#pragma once
#include <string>

#include "cluster/launch_place.h"

namespace paceline::cluster {

// "mpirun has started 2 ranks"
std::string started_words(const LaunchPlace& place);

// Command that starts `ranks` ranks under the same launcher: "mpirun -np 8"
std::string start_words(const LaunchPlace& place, int ranks);

}  // namespace paceline::cluster
