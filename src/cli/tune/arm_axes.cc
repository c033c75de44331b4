// SPDX-License-Identifier: MIT
#include "cli/tune/arm_axes.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/device.h"
#include "base/error.h"
#include "cli/interrupts.h"
#include "host/machine/cpu.h"
#include "host/machine/cpu_choice.h"
#include "run/device_choice.h"

namespace paceline::cli {

const config::RawSetting* typed_setting(const config::FlagSet& flags, std::string_view option) {
  const auto found = std::ranges::find(flags.settings, option, &config::RawSetting::name);
  return found == flags.settings.end() ? nullptr : &*found;
}

std::string tuned_model(const config::FlagSet& typed, std::string_view fallback) {
  std::string model;
  for (const auto& setting : typed.settings) {
    if (setting.name != "models") continue;
    if (setting.values.size() != 1 || !model.empty())
      throw Error(ErrorCode::kUsage,
                  fmt::format("{}: a search is about one model; start one for each", setting.written));
    model = setting.values.front().text;
  }
  if (model.empty()) model = fallback;
  if (model.empty()) throw Error(ErrorCode::kUsage, "tune: no model given; write paceline tune --model FILE");
  return model;
}

bool runs_on_gpu(const config::FlagSet& typed) {
  const auto* setting = typed_setting(typed, "device");
  const auto device = setting && !setting->values.empty() ? setting->values.front().text : "auto";
  if (device != "auto") return is_cuda(device);
  return run::gpus_here(InterruptGuard::flag()).absent.empty();
}

int usable_cores() {
  const auto allowed = static_cast<int>(host::allowed_cpus().size());
  const auto cores = host::read_cpu().cores;
  return std::max(1, cores ? std::min(allowed, static_cast<int>(*cores)) : allowed);
}

std::vector<std::string> words_for_samples(const TuneRequest& request) {
  const auto samples = samples_for_percentiles(request);
  if (samples == 0) return {};
  return {"--stop.n-min", std::to_string(samples), "--stop.rel-halfwidth-p50", "1"};
}

}  // namespace paceline::cli
