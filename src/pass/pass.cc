// SPDX-License-Identifier: MIT
#include "pass/pass.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/error.h"
#include "pass/inference_fields.h"
#include "pass/train_fields.h"
#include "result/stored/case_fields.h"

namespace paceline::archive {
template <>
struct EnumNames<pass::PassKind> {
  static constexpr auto kValue = names_of_rows(pass::kPassKinds, &pass::PassTraits::kind);
};
template <>
struct EnumNames<DType> {
  static constexpr auto kValue = names_of_rows(std::to_array(kDTypes), &DTypeRow::dtype);
};
template <>
struct EnumNames<stats::WarmupMode> {
  static constexpr std::array<std::pair<stats::WarmupMode, std::string_view>, 3> kValue{
      {{stats::WarmupMode::kAuto, "auto"},
       {stats::WarmupMode::kFixed, "fixed"},
       {stats::WarmupMode::kNone, "none"}}};
};
}  // namespace paceline::archive

namespace paceline {
PACELINE_FIELDS(TensorSpec, name, dtype, shape);
PACELINE_FIELDS(ShapeRange, input, min, opt, max);
}  // namespace paceline

namespace paceline::plugin {
PACELINE_FIELDS(Rendezvous, address, port, serve, listen_fd, prefix, timeout_s);
PACELINE_FIELDS(ModelSpec, name, file, weights_file, weights_seed, inputs, any_batch, any_shape);
PACELINE_FIELDS(EngineSettings, precision, layout, threads, options, precision_of_file);
PACELINE_FIELDS(ExportSettings, opset, dynamic_batch, external_data_above_bytes);
}  // namespace paceline::plugin

namespace paceline::stats {
PACELINE_FIELDS(WarmupConfig, mode, fixed_iterations, fixed_ns, floor_iterations, floor_ns, cap_iterations,
                cap_ns, window_ns, window_min, window_max, passes, tolerance);
PACELINE_FIELDS(Precision, ppm, rel_halfwidth, tau_guard);
PACELINE_FIELDS(StopConfig, confidence, n_min, n_max, t_min_ns, t_max_ns, check_growth, quantiles_ppm,
                precisions);
}  // namespace paceline::stats

namespace paceline::measure {
template <class A>
void fields(A& a, LoopConfig& t) {
  Count iterations(t.iterations, "not_fixed"), batch(t.batch, "chosen_by_duration");
  a("warmup", t.warmup), a("stop", t.stop), a("iterations", iterations), a("batch", batch);
  a("pipelined", t.pipelined), a("progress_interval_ns", t.progress_interval_ns);
  t.iterations = iterations.value();
  t.batch = batch.value();
}
}  // namespace paceline::measure

namespace paceline::pass {

PACELINE_FIELDS(RankSpec, device, backend, rendezvous, group_timeout_s, launcher, plan_hash);
PACELINE_FIELDS(ExportTo, format, file, settings);
PACELINE_FIELDS(QuantiseTo, file, precision, activations, method, percentile, exclude, reduce_range,
                cache_file, data, sensitivity_file);
PACELINE_FIELDS(BuildTo, file, log_file, profiles);
PACELINE_FIELDS(ImageFormat, mean, scale, reverse_channels);
PACELINE_FIELDS(ValueRange, given, from, to);
template <class A>
void fields(A& a, InputRequest& t) {
  std::string image_dir = t.image_dir.string();
  a("specs", t.specs), a("ranges", t.ranges), a("seed", t.seed), a("load_inputs", t.load_inputs);
  a("image_dir", image_dir), a("batch", t.batch), a("batch_dimensions", t.batch_dimensions);
  a("image_format", t.image_format);
  t.image_dir = image_dir;
}
PACELINE_FIELDS(InputsTo, request, prefix, count_given);
PACELINE_FIELDS(ExpectedTo, from, given, file);
template <class A>
void fields(A& a, PluginUse& t) {
  std::string role = plugin::role_name(t.role);
  a("role", role), a("name", t.name), a("file", t.file), a("options", t.options);
  t.role = plugin::role_of(role);
}
PACELINE_FIELDS(ProfileLayers, inferences);
PACELINE_FIELDS(PassSpec, kind, case_id, repetition, rank, world_size, plugins, load_libraries, model,
                settings, batch, loop, pin_cpus, inference, task, ranks, table_file, objects_file);

void PassSpec::use(plugin::Role role, const std::string& name, const std::string& file) {
  std::erase_if(plugins, [&](const PluginUse& one) { return one.role == role; });
  plugins.push_back({role, name, file});
}

bool PassSpec::uses(plugin::Role role) const {
  return std::ranges::find(plugins, role, &PluginUse::role) != plugins.end();
}

const PluginUse& PassSpec::plugin(plugin::Role role) const {
  for (const auto& one : plugins)
    if (one.role == role) return one;
  throw Error(ErrorCode::kInternal, fmt::format("a {} pass without plug-in for its {}", pass_kind_name(kind),
                                                plugin::role_name(role)));
}

std::string PassSpec::engine() const {
  for (const auto& one : plugins)
    if (one.role == plugin::Role::kEngine) return one.name;
  return {};
}

nlohmann::json to_json(const PassSpec& spec) {
  return archive::Writer::write(spec);
}

PassSpec pass_from_json(const nlohmann::json& json) {
  PassSpec spec;
  archive::Reader::read(json, "", spec);
  return spec;
}

}  // namespace paceline::pass
