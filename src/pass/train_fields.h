// SPDX-License-Identifier: MIT
#pragma once
#include "base/archive.h"
#include "pass/train_spec.h"

// Field lists of TrainSpec for its JSON form (base/archive.h).
namespace paceline::plugin {

PACELINE_FIELDS(OptimizerSettings, name, momentum, nesterov, beta1, beta2, eps, weight_decay);
PACELINE_FIELDS(DdpSettings, enabled, bucket_cap_mb, gradient_as_bucket_view, static_graph,
                find_unused_parameters, broadcast_buffers, comm_hook);
PACELINE_FIELDS(TrainSettings, precision, layout, threads, seed, dropout, deterministic, clip_norm,
                accumulation_steps, optimizer, ddp, options);

}  // namespace paceline::plugin

namespace paceline::pass {

PACELINE_FIELDS(DataSpec, source, path, workers, prefetch, synthetic_samples, synthetic_fresh, augment,
                shuffle, held_out, seed);
PACELINE_FIELDS(ScheduleSpec, name, base, warmup_steps, total_steps, last, step_every, gamma, epochs);
PACELINE_FIELDS(CheckpointSpec, dir, every_steps, keep, asynchronous, resume, timeout_s);
PACELINE_FIELDS(ProfileSpec, untimed_steps, steps, trace_file);
PACELINE_FIELDS(TrainSpec, settings, data, schedule, checkpoint, epochs, eval_every_epochs, drift_check_every,
                inject, profile);

}  // namespace paceline::pass
