// SPDX-License-Identifier: MIT
#include "cli/run/launched_run.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <memory>

#include "base/error.h"
#include "base/own_environment.h"
#include "base/text.h"
#include "base/units.h"
#include "cli/interrupts.h"
#include "cluster/launch_words.h"
#include "cluster/local_address.h"
#include "cluster/meeting_point.h"
#include "cluster/roll_call.h"
#include "run/case/kind_rules.h"
#include "run/ranks/launch.h"
#include "run/ranks/rank_home.h"
#include "run/ranks/store_process.h"

namespace paceline::cli {
namespace {

constexpr double kErrorStoreS = 10;  // how long a rank 0 that cannot start keeps a store for the others

const config::RawSetting* find_setting(const config::FlagSet& flags, std::string_view name) {
  const auto found = std::find_if(flags.settings.begin(), flags.settings.end(),
                                  [&](const auto& setting) { return setting.name == name; });
  return found == flags.settings.end() ? nullptr : &*found;
}

// The flag, as in another tool, that counts the ranks of one process; null: not given.
const config::RawSetting* ranks_per_process(const config::FlagSet& flags) {
  const auto* setting = find_setting(flags, "gpu_counts");
  return setting && config::is_of_each_process(setting->written, flags.command) ? setting : nullptr;
}

// The largest number of ranks that the command line asks for on `hosts` hosts; 0: none.
int ranks_asked(const config::FlagSet& flags, int hosts) {
  const auto* setting = find_setting(flags, "gpu_counts");
  long long most = 0;
  if (setting)
    for (const auto& value : setting->values) most = std::max(most, parse_int(value.text).value_or(0));
  return static_cast<int>(ranks_per_process(flags) ? most * hosts : most);
}

[[noreturn]] void refuse(const std::string& sentence) {
  throw Error(ErrorCode::kUsage, sentence);
}

// These options have no effect without --nnodes.
void check_companions(const config::FlagSet& flags) {
  if (find_setting(flags, "nnodes")) return;
  for (const auto* name : {"node_rank", "rdzv_endpoint"})
    if (const auto* word = find_setting(flags, name))
      refuse(fmt::format("{} without --nnodes; say on every host how many there are, e.g. --nnodes 2",
                         word->written));
}

// --ranks and torchrun's options may both give the world.
void check_world(const config::FlagSet& flags, const config::Settings& options, int hosts) {
  const int asked = ranks_asked(flags, hosts);
  if (asked == 0 || !options.has("nproc_per_node")) return;
  const auto each = options.integer("nproc_per_node");
  if (asked != hosts * each)
    refuse(fmt::format("{} {}, but --nproc-per-node {} with --nnodes {} is {} ranks; leave one of them out",
                       find_setting(flags, "gpu_counts")->written,
                       find_setting(flags, "gpu_counts")->values.front().text, each, hosts, hosts * each));
}

int ranks_per_host(const config::FlagSet& flags, const config::Settings& options, int hosts) {
  if (options.has("nproc_per_node")) return static_cast<int>(options.integer("nproc_per_node"));
  const int ranks = ranks_asked(flags, hosts);
  if (ranks % hosts != 0)
    refuse(fmt::format("--ranks {} cannot be spread evenly over --nnodes {}", ranks, hosts));
  return std::max(1, ranks / hosts);
}

// gloo reads the variable.
void choose_interface(const config::Settings& options) {
  if (!options.has("interface")) return;
  const auto& name = options.text("interface");
  cluster::check_interface(name, "--interface " + name);
  ::setenv("GLOO_SOCKET_IFNAME", name.c_str(), 1);
}

void check_ranks_per_process(const cluster::LaunchPlace& place, const config::RawSetting& each) {
  for (const auto& value : each.values) {
    const auto ranks = parse_int(value.text);
    if (!ranks || *ranks < 1) continue;  // the option refuses it
    if (*ranks == place.ranks) continue;
    const int world = static_cast<int>(*ranks * (place.world / place.ranks));
    refuse(
        fmt::format("{} {} asks for {} per process, but {}, {} per process; for {} ranks type {} and {} {}",
                    each.written, value.text, plural(*ranks, "rank"), cluster::started_words(place),
                    place.ranks, world, cluster::start_words(place, world), each.written, place.ranks));
  }
}

// Where the numbers of ranks come from, as it was written.
std::string world_flag(const config::FlagSet& flags) {
  for (const auto* name : {"gpu_counts", "nproc_per_node"})
    if (const auto* setting = find_setting(flags, name)) return setting->written;
  return "gpu_counts";
}

bool runs_by_ranks(const config::Case& c) {
  return config::traits_of(c.kind).by_ranks;
}

// Equal in all processes of the launch, which must run the same.
std::string plan_of(const run::RunSetup& setup) {
  std::string text = config::effective_yaml(setup.plan);
  for (const auto& id : setup.only) text += "\nonly " + id;
  return text;
}

// Why this process cannot start ranks; empty: it can.
std::string obstacle_of(const run::RankHome& home) {
  pass::PassSpec pass;
  pass.world_size = 1, pass.ranks = home.ranks;  // a launcher may show every rank other devices
  return run::rank_obstacle(pass, home.plugin, nullptr);
}

run::RankHome rank_home(const config::Case& c, const run::RunSetup& setup) {
  return run::kind_rules(c.kind).rank_home(c, setup.engines);
}

// Places the ranks on the CPU: their plug-in reaches the store even if the case's own is missing.
run::RankHome cpu_rank_home(config::Case c, const run::RunSetup& setup) {
  c.settings.set("device", std::string("cpu"));
  c.settings.set("backend", std::string("auto"));
  return rank_home(c, setup);
}

run::StoreRequest store_request(const cluster::LaunchPlace& place, const run::RankHome& home) {
  return {home.plugin.file.string(), home.ranks.backend,
          cluster::rendezvous_of(place, home.ranks.rendezvous.timeout_s), "/dev/null"};
}

// Rank 0 tells the others why it has no ranks for them, where anything here serves the store.
[[noreturn]] void give_up(const cluster::LaunchPlace& place, const config::Case& c,
                          const run::RunSetup& setup, const std::string& obstacle) {
  const auto home = cpu_rank_home(c, setup);
  try {
    if (!obstacle_of(home).empty()) throw Error(ErrorCode::kUnavailable, obstacle);
    auto request = store_request(place, home);
    request.where.timeout_s = std::min(request.where.timeout_s, kErrorStoreS);
    run::StoreProcess store(request, InterruptGuard::flag());
    const run::Launch launch(place, store, request.where.timeout_s, plan_of(setup), &InterruptGuard::flag(),
                             nullptr, obstacle);
  } catch (const Error&) {  // NOLINT(bugprone-empty-catch): all have heard, or nobody can
  }
  throw Error(ErrorCode::kUnavailable, obstacle);
}

std::string written_address(const cluster::LaunchPlace& place) {
  const auto endpoint = fmt::format("{}:{}", place.address, place.port);
  return place.written.empty() || place.written.ends_with(endpoint)
             ? endpoint
             : fmt::format("{} ({})", endpoint, place.written);
}

// A follower waits until rank 0 keeps the store, then all until the last has come.
Patience patience(const LaunchStart& start, double limit_s, std::string_view whom, const Console& console) {
  const auto words =
      fmt::format("rank {} waits for {} at {}", start.place().rank, whom, written_address(start.place()));
  return {limit_s, [words, &console](const std::string& left) { console.say(words + ", " + left); }};
}

std::unique_ptr<run::StoreProcess> opened(const LaunchStart& start, const run::StoreRequest& request,
                                          const Console& console) {
  const auto waiting = patience(start, request.where.timeout_s, "rank 0 to keep the store", console);
  return std::make_unique<run::StoreProcess>(request, InterruptGuard::flag());
}

// The roll of all processes. A peer that cannot start is a peer that was lost: exit code 5.
std::unique_ptr<run::Launch> called(LaunchStart& start, plugin::Store& store, double timeout_s,
                                    const std::string& plan, const Console& console) {
  try {
    const auto waiting = patience(start, timeout_s, "the other ranks", console);
    auto launch = std::make_unique<run::Launch>(start.place(), store, timeout_s, plan,
                                                &InterruptGuard::flag(), start.notes());
    start.close_notes();
    return launch;
  } catch (const Error& e) {  // what ended the roll, all have heard
    start.close_notes();
    if (dynamic_cast<const cluster::PeerFailure*>(&e)) throw Error(ErrorCode::kTimeout, e.what());
    throw;
  }
}

void report_to_launcher(const run::Launch& launch) {
  if (!launch.failure() || InterruptGuard::flag()) return;
  if (launch.failure()->reason_code == "peer")
    let_the_peer_end_first();
  else
    write_error_file(launch.failure()->reason);
}

}  // namespace

std::optional<cluster::LaunchPlace> launch_place(const config::FlagSet& flags,
                                                 const config::Settings& options) {
  if ((flags.command & config::kRunsRanks) == 0) return std::nullopt;
  const int hosts = static_cast<int>(options.integer("nnodes"));
  const int host = static_cast<int>(options.integer("node_rank"));
  check_companions(flags);
  check_world(flags, options, hosts);
  choose_interface(options);
  if (host >= hosts)
    refuse(fmt::format("--node-rank {} with --nnodes {}: nodes go from 0 to {}", host, hosts, hosts - 1));
  if (hosts == 1) return cluster::find_place(own_environment());
  return cluster::place_by_hand(hosts, host, ranks_per_host(flags, options, hosts),
                                options.has("rdzv_endpoint") ? options.text("rdzv_endpoint") : "");
}

config::FlagSet with_world_of(const cluster::LaunchPlace& place, config::FlagSet flags) {
  if (const auto* each = ranks_per_process(flags)) {
    check_ranks_per_process(place, *each);
    std::erase_if(flags.settings, [](const auto& setting) { return setting.name == "gpu_counts"; });
  }
  config::RawSetting world;
  world.name = "gpu_counts", world.written = place.launcher, world.on_command_line = true;
  world.values.push_back({fmt::format("{}", place.world), {}, false});
  flags.implied.push_back(std::move(world));
  return flags;
}

void check_launched_world(const cluster::LaunchPlace& place, const config::FlagSet& flags,
                          const std::vector<config::Case>& cases, const std::set<std::string>& only) {
  std::int64_t most = 0;
  for (const auto& c : cases)
    if (runs_by_ranks(c) && (only.empty() || only.contains(c.id)))
      most = std::max(most, c.settings.integer("ranks"));
  if (most == place.world || most == 0) return;
  const auto asked = plural(most, "rank");
  const auto type = cluster::start_words(place, static_cast<int>(most));
  if (only.empty())
    refuse(fmt::format("{} asks for {}, but {}; type {}, or leave {} out", world_flag(flags), asked,
                       cluster::started_words(place), type, world_flag(flags)));
  refuse(fmt::format("the cases of --only have {}, but {}; type {}", asked, cluster::started_words(place),
                     type));
}

void refuse_ranks_of_one_process(const cluster::LaunchPlace& place) {
  if (place.world == 1) return;
  refuse(
      fmt::format("{}, and inference is started once: each of them would measure by itself, on the same "
                  "devices; leave the launcher out (or unset its variables): --gpus {} has a process on each "
                  "of the GPUs, and --instances {} as many on the CPU",
                  cluster::started_words(place), place.local_world, place.local_world));
}

void refuse_launch_of_inference(const config::FlagSet& flags) {
  if ((flags.command & config::kRunsRanks) != 0) return;
  if (const auto place = cluster::claimed_place(own_environment())) refuse_ranks_of_one_process(*place);
}

void refuse_rank_options(const config::FlagSet& flags) {
  for (const auto* name : {"nproc_per_node", "nnodes", "node_rank", "rdzv_endpoint", "interface"})
    if (const auto* word = find_setting(flags, name))
      refuse(fmt::format("{}: no workload of this plan runs on ranks; leave it out", word->written));
}

bool any_by_ranks(const std::vector<config::Case>& cases) {
  return std::any_of(cases.begin(), cases.end(), runs_by_ranks);
}

ExitCode run_launched(LaunchStart& start, run::RunSetup setup, const Console& console,
                      const std::function<ExitCode(const run::RunSetup&)>& work) {
  const auto& place = start.place();
  const auto first = std::find_if(setup.cases.begin(), setup.cases.end(), runs_by_ranks);
  const auto home = rank_home(*first, setup);
  if (const auto obstacle = obstacle_of(home); !obstacle.empty()) {
    if (place.leads()) give_up(place, *first, setup, obstacle);
    throw Error(ErrorCode::kUnavailable, obstacle);
  }
  const auto request = store_request(place, home);
  if (const char* chosen = std::getenv("GLOO_SOCKET_IFNAME"); chosen && *chosen)
    cluster::check_interface(chosen, fmt::format("GLOO_SOCKET_IFNAME={}", chosen));
  cluster::check_meeting_point(place, request.where.timeout_s, InterruptGuard::flag());
  const auto store = opened(start, request, console);
  const auto launch = called(start, *store, request.where.timeout_s, plan_of(setup), console);
  setup.launch = launch.get();
  setup.environment["launch"] = launch->described();
  auto code = ExitCode::kOk;
  try {
    code = work(setup);
  } catch (const Error& e) {
    if (e.code() != ErrorCode::kUnavailable || place.leads()) throw;
    throw Error(ErrorCode::kTimeout, fmt::format("rank 0 is gone: {}", e.what()));
  }
  if (place.leads()) launch->finish();
  report_to_launcher(*launch);
  return code;
}

}  // namespace paceline::cli
