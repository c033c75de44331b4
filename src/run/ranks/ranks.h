// SPDX-License-Identifier: MIT
#pragma once
#include <atomic>

#include "process/worker.h"

// The ranks of a training pass that this process starts: one worker each.
namespace paceline::run {

// Starts those of request.share and watches them as run_worker does. With spec.pin_cpus, whichever they are,
// each rank gets CPUs of its own, as many as spec.settings.threads, as long as there are enough. Their output
// goes to request.log, of rank k > 0 to log_rank<k>.txt beside it; rank 0's records are the report.
// spec.ranks.rendezvous says where the store is; port 0: rank 0 serves it on a socket that is bound here.
//
// The first failure ends the others within two seconds, and the outcome names its rank, host, phase and last
// step: the first that failed by itself; where all others only miss a peer, the one that stopped answering
// (reason_code hung). peer: it is not one of ours. After an interrupt (reason_code interrupted) ranks that
// train have 10 s to tell their steps, with checkpoints 30 s to write one; the report holds the steps of all
// then. So it does where somebody else sent SIGTERM to a rank, here or elsewhere: reason_code killed.
process::WorkerOutcome run_ranks(const process::WorkerRequest& request, const std::atomic<bool>& interrupt,
                                 const process::OnProgress& on_progress);

}  // namespace paceline::run
