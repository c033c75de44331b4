// SPDX-License-Identifier: MIT
#pragma once
#include <memory>

#include "plugin/communicator.h"
#include "plugin/rank_group.h"

namespace paceline::test {

// Collectives of floats over any group, slow and plain: every rank gets the buffers of all, and takes what is
// its own. PACELINE_TEST_COMM is a list of faults: "wrong:1" makes rank 1 receive a wrong first element,
// "late:1:20" makes rank 1 start each operation 20 ms late; in rounds, "slow:1:120:20" makes each exchange
// of rank 1 take 120 ms more and those of others 20 ms, beside which the noise of a busy machine is small,
// and "link:1:2:120:20" does so between ranks 1 and 2. From buffers of 4096 bytes on, "refuse:1:4096" lets
// rank 1 find no memory, "kill:1:4096" kills it, and "hang:1:4096" stops it for an hour.
std::unique_ptr<plugin::Communicator> make_spin_communicator(plugin::RankGroup& group);

}  // namespace paceline::test
