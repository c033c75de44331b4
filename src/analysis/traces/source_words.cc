// SPDX-License-Identifier: MIT
#include "analysis/traces/source_words.h"

namespace paceline::analysis::traces {
namespace {

constexpr SourceWords kOfTraces{
    .no_loader = "no data loader in the trace",
    .no_forward = "no forward pass in the trace",
    .no_backward = "no backward pass in the trace",
    .no_optimizer = "no optimizer in the trace",
    .no_communication = "there is no communication in the trace",
    .only_queued = "the trace has only the host's calls for communication, not the kernels on the device",
    .without_loader = "waiting for input: nothing iterates over a torch DataLoader in the steps",
    .without_forward = "the forward pass",
    .without_backward = "the backward pass: there are no autograd functions; all is in forward",
    .without_optimizer = "the optimizer's time: no Optimizer.step in the steps",
    .without_device =
        "whether the host holds up a device: there are no events of one (ProfilerActivity.CUDA)",
    .of_one_rank = "the trace of rank",
    .more_steps = "record at least {} (torch.profiler.schedule(active={}))"};

constexpr SourceWords kOfStepFiles{
    .no_loader = "not seen (no torch DataLoader)",
    .no_forward = "not seen (no scope of DDP or FSDP)",
    .no_backward = "not seen (no backward call)",
    .no_optimizer = "not seen (no optimizer of torch.optim)",
    .no_communication = "not seen (no collective of torch.distributed)",
    .only_queued =
        "its collectives are queued on a device, and end there: a late rank hides behind them without "
        "records "
        "of the device",
    .without_loader = "data wait (no torch DataLoader): it is in the rest of the step",
    .without_forward = "forward (no scope of DDP or FSDP): it is in the rest of the step",
    .without_backward = "backward (no backward call): it is in the rest of the step",
    .without_optimizer = "optimizer (none of torch.optim): it is in the rest of the step",
    .without_device = "device times: the parts are those of the host, which may only queue work",
    .of_one_rank = "the step file of rank",
    .more_steps = "let it train for at least {} steady steps"};

}  // namespace

const SourceWords& source_words(const RankTrace& one) {
  return one.attached ? kOfStepFiles : kOfTraces;
}

}  // namespace paceline::analysis::traces
