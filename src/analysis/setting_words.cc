// SPDX-License-Identifier: MIT
#include "analysis/setting_words.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "analysis/trained_cases.h"
#include "base/error.h"

namespace paceline::analysis {
namespace {

struct Setting {
  std::string_view name, of_plan, of_script;
};
constexpr std::array kSettings{
    Setting{"accumulation", "training.accumulation_steps", "gradient accumulation under no_sync()"},
    Setting{"bucket_cap_mb", "ddp.bucket_cap_mb", "bucket_cap_mb of DistributedDataParallel"},
    Setting{"bf16_compress", "ddp.comm_hook: bf16_compress", "bf16_compress_hook (register_comm_hook)"},
    Setting{"fp16_compress", "ddp.comm_hook: fp16_compress", "fp16_compress_hook (register_comm_hook)"},
    Setting{"bucket_view", "ddp.gradient_as_bucket_view: true",
            "gradient_as_bucket_view=True of DistributedDataParallel"},
    Setting{"loader", "data.workers or data.prefetch",
            "num_workers or prefetch_factor of its DataLoader (with persistent_workers, pin_memory)"},
    Setting{"pin", "pin, threads", "taskset, numactl"},
    Setting{"threads", "threads", "threads (torch.set_num_threads, OMP_NUM_THREADS)"},
    Setting{"workers", "data.workers", "num_workers"},
};

std::string_view words_of(std::string_view name, bool script) {
  const auto* const row = std::ranges::find(kSettings, name, &Setting::name);
  if (row == kSettings.end())
    throw Error(ErrorCode::kInternal,
                fmt::format("advice names the setting '{}', which is in no table", name));
  return script ? row->of_script : row->of_plan;
}

}  // namespace

std::string advice_to(const result::CaseResult& one, std::string_view advice) {
  std::string text;
  for (std::size_t begin = 0; (begin = advice.find('{')) != std::string_view::npos;) {
    const auto end = advice.find('}', begin);
    text += advice.substr(0, begin);
    text += words_of(advice.substr(begin + 1, end - begin - 1), is_traced(one));
    advice.remove_prefix(end + 1);
  }
  return text + std::string(advice);
}

}  // namespace paceline::analysis
