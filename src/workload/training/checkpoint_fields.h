// SPDX-License-Identifier: MIT
#pragma once
#include "pass/train_fields.h"
#include "workload/training/checkpoint.h"

// Names the fields of meta.json and of the notes of ranks, for writing and reading.
namespace paceline::workload {

PACELINE_FIELDS(CheckpointPart, file, bytes, sha256);
template <class A>
void fields(A& a, Checkpoint& t) {
  a("step", t.state.step), a("epoch", t.state.data.epoch), a("epoch_samples", t.state.data.samples);
  a("schedule", t.state.schedule), a("model", t.owner.model), a("plan_hash", t.owner.plan_hash);
  a("world_size", t.owner.world), a("parts", t.parts);
}

}  // namespace paceline::workload
