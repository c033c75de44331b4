// SPDX-License-Identifier: MIT
// Flags of training scripts and bench suites.
#include <array>

#include "config/older_flag_rows.h"

namespace paceline::config {
namespace {

using enum Support;

constexpr std::string_view kDdpScripts = "DDP scripts", kBench = "bench suites";

constexpr std::array kTrainingFlags{
    OlderFlag{kDdpScripts, "--learning-rate", "--lr X", kTrain, kTaken},
    OlderFlag{kDdpScripts, "--arch", "--model NAME", kTrain, kTaken},
    OlderFlag{kDdpScripts, "-a", "--model NAME", kTrain, kTaken},
    OlderFlag{kDdpScripts, "-j", "--workers N", kTrain, kTaken},
    OlderFlag{kDdpScripts, "--dist-backend", "--backend gloo", kTrain, kTaken},
    OlderFlag{kDdpScripts, "-b", "`--batch-size N`, the batch of one rank", kTrain},
    OlderFlag{kDdpScripts, "--data", "--data.source image_folder --data.path FOLDER", kTrain},
    OlderFlag{kDdpScripts, "--gpu",
              "`--device cuda` with CUDA_VISIBLE_DEVICES=N, or `--ranks N` for as many GPUs", kTrain},
    OlderFlag{kDdpScripts, "--data-dir", "--data.source image_folder --data.path FOLDER", kTrain},
    OlderFlag{kDdpScripts, "--data-path", "--data.source image_folder --data.path FOLDER", kTrain},
    OlderFlag{kDdpScripts, "--dataset", "--data.source cifar100", kTrain},
    OlderFlag{kDdpScripts, "--use-env",
              "nothing; LOCAL_RANK and its like are always read from the environment", kTrain},
    OlderFlag{kDdpScripts, "--local-rank",
              "nothing; LOCAL_RANK and its like are always read from the environment", kTrain},
    OlderFlag{kDdpScripts, "--resume",
              "`--checkpoint.dir FOLDER --checkpoint.resume`; `--resume DIR` finishes a measured run here",
              kTrain, kOther},
    OlderFlag{kDdpScripts, "--save-dir", "--checkpoint.dir FOLDER", kTrain},
    OlderFlag{kDdpScripts, "--master-addr", "--rdzv-endpoint HOST:PORT", kTrain},
    OlderFlag{kDdpScripts, "--master-port", "--rdzv-endpoint HOST:PORT", kTrain},
    OlderFlag{kDdpScripts, "--dist-url", "--rdzv-endpoint HOST:PORT", kTrain},
    OlderFlag{kDdpScripts, "--multiprocessing-distributed", "--ranks N", kTrain},
    OlderFlag{kDdpScripts, "--num-gpus", "--ranks N", kTrain},
    OlderFlag{kDdpScripts, "--pretrained", "--weights FILE.safetensors", kTrain},
    OlderFlag{kDdpScripts, "--lr-scheduler", "--scheduler cosine", kTrain, kTaken},
    OlderFlag{kDdpScripts, "--lr-step-size", "`--training.lr_step_size N`, in steps instead of epochs",
              kTrain},
    OlderFlag{kDdpScripts, "--lr-gamma", "--training.lr_gamma 0.1", kTrain},
    OlderFlag{kDdpScripts, "--lr-warmup-epochs", "`--training.lr_warmup_steps N`, in steps instead of epochs",
              kTrain},
    OlderFlag{kDdpScripts, "--gradient-accumulation-steps", "--accumulation-steps N", kTrain},
    OlderFlag{kDdpScripts, "--clip-grad-norm", "--training.clip_norm X", kTrain},
    OlderFlag{kDdpScripts, "--bucket-cap-mb", "--ddp.bucket_cap_mb N", kTrain},
    OlderFlag{kDdpScripts, "--print-freq", "nothing; progress is shown, and every step is in samples.csv",
              kTrain},
    OlderFlag{kDdpScripts, "--max-grad-norm", "--training.clip_norm X", kTrain},
    OlderFlag{kDdpScripts, "--grad-clip", "--training.clip_norm X", kTrain},

    OlderFlag{kBench, "--gate", "--expect 'p50_ms < 60'", kInfer | kTrain | kRun},
    OlderFlag{kBench, "-g", "--ranks N", kTrain, kTaken},
    OlderFlag{kBench, "-c", "`paceline run --dry-run PLAN.yaml`, which checks the plan", kValidate},
    OlderFlag{kBench, "--config", "`paceline run --dry-run PLAN.yaml`, which checks the plan", kValidate},
};

constexpr std::array kTrainingValues{
    OlderValue{"training.schedule", "cosineannealinglr", "cosine", true},
    OlderValue{"training.schedule", "cosine_annealing", "cosine", true},
    OlderValue{"training.schedule", "cosineannealing", "cosine", true},
    OlderValue{"training.schedule", "steplr", "step", true},
    OlderValue{"training.schedule", "constantlr", "constant", true},
    OlderValue{"training.schedule", "none", "constant", true},
};

}  // namespace

std::span<const OlderFlag> flags_of_training_tools() {
  return kTrainingFlags;
}
std::span<const OlderValue> values_of_training_tools() {
  return kTrainingValues;
}

}  // namespace paceline::config
