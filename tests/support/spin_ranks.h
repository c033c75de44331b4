// SPDX-License-Identifier: MIT
// The store and the rank group of the spin trainer: plain sockets, which open in milliseconds.
#pragma once
#include <memory>

#include "plugin/rank_group.h"

namespace paceline::test {

std::shared_ptr<plugin::Store> connect_spin_store(const plugin::Rendezvous& where);
std::unique_ptr<plugin::RankGroup> join_spin_group(std::shared_ptr<plugin::Store> store,
                                                   const plugin::GroupSpec& spec);

}  // namespace paceline::test
