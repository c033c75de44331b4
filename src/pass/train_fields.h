// SPDX-License-Identifier: MIT
#pragma once
#include "pass/train_spec.h"

// Field lists of TrainSpec for its JSON form (result/archive.h).
namespace paceline::plugin {

template <class A>
void fields(A& a, OptimizerSettings& t) {
  a("name", t.name), a("momentum", t.momentum), a("nesterov", t.nesterov);
  a("beta1", t.beta1), a("beta2", t.beta2), a("eps", t.eps), a("weight_decay", t.weight_decay);
}
template <class A>
void fields(A& a, DdpSettings& t) {
  a("enabled", t.enabled), a("bucket_cap_mb", t.bucket_cap_mb);
  a("gradient_as_bucket_view", t.gradient_as_bucket_view), a("static_graph", t.static_graph);
  a("find_unused_parameters", t.find_unused_parameters), a("broadcast_buffers", t.broadcast_buffers);
  a("comm_hook", t.comm_hook);
}
template <class A>
void fields(A& a, TrainSettings& t) {
  a("precision", t.precision), a("layout", t.layout), a("threads", t.threads), a("seed", t.seed);
  a("dropout", t.dropout), a("deterministic", t.deterministic), a("clip_norm", t.clip_norm);
  a("accumulation_steps", t.accumulation_steps), a("optimizer", t.optimizer), a("ddp", t.ddp),
      a("options", t.options);
}

}  // namespace paceline::plugin

namespace paceline::pass {

template <class A>
void fields(A& a, DataSpec& t) {
  a("source", t.source), a("path", t.path), a("workers", t.workers), a("prefetch", t.prefetch);
  a("synthetic_samples", t.synthetic_samples), a("synthetic_fresh", t.synthetic_fresh);
  a("augment", t.augment), a("shuffle", t.shuffle), a("held_out", t.held_out), a("seed", t.seed);
}
template <class A>
void fields(A& a, ScheduleSpec& t) {
  a("name", t.name), a("base", t.base), a("warmup_steps", t.warmup_steps), a("total_steps", t.total_steps);
  a("last", t.last), a("step_every", t.step_every), a("gamma", t.gamma);
}
template <class A>
void fields(A& a, CheckpointSpec& t) {
  a("dir", t.dir), a("every_steps", t.every_steps), a("keep", t.keep), a("asynchronous", t.asynchronous),
      a("resume", t.resume), a("timeout_s", t.timeout_s);
}
template <class A>
void fields(A& a, ProfileSpec& t) {
  a("untimed_steps", t.untimed_steps), a("steps", t.steps), a("trace_file", t.trace_file);
}
template <class A>
void fields(A& a, TrainSpec& t) {
  a("settings", t.settings), a("data", t.data), a("schedule", t.schedule), a("checkpoint", t.checkpoint);
  a("epochs", t.epochs), a("eval_every_epochs", t.eval_every_epochs),
      a("drift_check_every", t.drift_check_every), a("inject", t.inject);
  a("profile", t.profile);
}

}  // namespace paceline::pass
