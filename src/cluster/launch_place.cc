// SPDX-License-Identifier: MIT
#include "cluster/launch_place.h"

#include <fmt/format.h>

#include <array>
#include <cstdint>
#include <limits>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "base/random.h"
#include "base/resolve.h"
#include "base/text.h"

namespace paceline::cluster {
namespace {

constexpr int kFirstPort = 20'000, kPorts = 12'000;  // below the ephemeral range
constexpr long long kSpecialSteps = 4'294'967'290;   // Slurm's interactive, batch and extern steps: no ranks
constexpr std::string_view kAddressAdvice =
    "mpirun passes it on with -x MASTER_ADDR=HOST -x MASTER_PORT=PORT";

// The variables of one launcher. `world` may name two, of which the first that is set counts.
struct LauncherRow {
  std::string_view launcher, rank, world, local_rank, local_world;
};
// In order of precedence: the first row whose rank is set counts.
constexpr std::array<LauncherRow, 5> kLaunchers{{
    {"environment", "RANK", "WORLD_SIZE", "LOCAL_RANK", "LOCAL_WORLD_SIZE"},
    {"mpirun", "OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_LOCAL_RANK",
     "OMPI_COMM_WORLD_LOCAL_SIZE"},
    {"mpich", "PMI_RANK", "PMI_SIZE", "MPI_LOCALRANKID", "MPI_LOCALNRANKS"},
    {"srun", "SLURM_PROCID", "SLURM_STEP_NUM_TASKS,SLURM_NTASKS", "SLURM_LOCALID", ""},
    {"kubernetes", "JOB_COMPLETION_INDEX", "WORLD_SIZE", "", ""},
}};

// Reads words and numbers from an environment; an empty variable counts as unset.
class Variables {
 public:
  explicit Variables(const Environment& environment) : environment_(environment) {}

  [[nodiscard]] std::string text(std::string_view name) const {
    const auto found = environment_.find(std::string(name));
    return found == environment_.end() ? std::string() : found->second;
  }
  [[nodiscard]] bool has(std::string_view name) const { return !text(name).empty(); }

  // The first name in a comma-separated list that is set; the last one when none is.
  [[nodiscard]] std::string first_set(std::string_view names) const {
    const auto all = split(names, ',');
    for (const auto& name : all)
      if (has(name)) return name;
    return all.back();
  }

  [[nodiscard]] std::optional<int> number(std::string_view name) const {
    if (name.empty() || !has(name)) return std::nullopt;
    const auto value = parse_int(text(name));
    if (!value || *value < 0 || *value > std::numeric_limits<int>::max())
      throw Error(ErrorCode::kConfig,
                  fmt::format("{}={}: this is no rank, count or port; unset it or correct "
                              "it",
                              name, text(name)));
    return static_cast<int>(*value);
  }

  [[nodiscard]] std::string shown(std::string_view name) const {
    return fmt::format("{}={}", name, text(name));
  }

 private:
  const Environment& environment_;
};

struct Claim {
  LauncherRow row;
  std::string world_name;
  int rank = 0, world = 1;
};

// Only processes of a step are ranks, but a batch script has SLURM_PROCID=0 as well.
bool is_slurm_step(const Variables& variables) {
  const auto step = parse_int(variables.text("SLURM_STEP_ID"));
  return step && *step < kSpecialSteps;
}

bool row_counts(const Variables& variables, const LauncherRow& row) {
  if (row.launcher == "srun") return is_slurm_step(variables);
  if (row.launcher == "mpich")  // srun --mpi=pmi2 sets PMI_RANK too
    return variables.has(row.rank) && (variables.has("MPI_LOCALRANKID") || !is_slurm_step(variables));
  // An indexed Job without WORLD_SIZE need not be a training job.
  if (row.launcher == "kubernetes") return variables.has(row.rank) && variables.has(row.world);
  return variables.has(row.rank);
}

std::optional<Claim> claim_of(const Variables& variables, const LauncherRow& row) {
  if (!row_counts(variables, row)) return std::nullopt;
  Claim claim{row, variables.first_set(row.world)};
  const auto rank = variables.number(row.rank), world = variables.number(claim.world_name);
  if (!rank || !world)
    throw Error(ErrorCode::kConfig,
                fmt::format("{} is set, but {} is not; set both or neither",
                            rank ? variables.shown(row.rank) : variables.shown(claim.world_name),
                            rank ? claim.world_name : std::string(row.rank)));
  claim.rank = *rank, claim.world = *world;
  if (claim.rank >= claim.world)
    throw Error(ErrorCode::kConfig,
                fmt::format("{} with {}: ranks go from 0 to {}", variables.shown(row.rank),
                            variables.shown(claim.world_name), claim.world - 1));
  return claim;
}

// torchrun and mpirun may themselves be tasks of a Slurm step, so only variables that were set by hand must
// agree with the others.
void check_agreement(const Variables& variables, const Claim& first, const Claim& other) {
  const auto differ = [&](const std::string& a, const std::string& b) {
    throw Error(ErrorCode::kConfig, fmt::format("{}, but {}: two launchers do not agree; unset the wrong one",
                                                variables.shown(a), variables.shown(b)));
  };
  if (first.rank != other.rank) differ(std::string(first.row.rank), std::string(other.row.rank));
  if (first.world != other.world) differ(first.world_name, other.world_name);
}

bool is_torchrun(const Variables& variables) {
  return variables.has("TORCHELASTIC_RUN_ID");
}

std::optional<Claim> first_claim(const Variables& variables) {
  std::optional<Claim> first;
  for (const auto& row : kLaunchers) {
    const auto claim = claim_of(variables, row);
    if (!claim) continue;
    if (!first) {
      first = claim;
      if (row.launcher != "environment" || is_torchrun(variables)) break;
    } else if (claim->world > 1) {  // the shell may be the one task of a step
      check_agreement(variables, *first, *claim);
    }
  }
  return first;
}

std::string launcher_name(const Variables& variables, const Claim& claim) {
  if (claim.row.launcher != "environment") return std::string(claim.row.launcher);
  if (is_torchrun(variables)) return "torchrun";
  return variables.has("KUBERNETES_SERVICE_HOST") ? "kubernetes" : "environment";
}

LaunchPlace place_of(const Variables& variables, const Claim& claim) {
  LaunchPlace place;
  place.launcher = launcher_name(variables, claim);
  place.rank = claim.rank, place.world = claim.world;
  return place;
}

// Parses "2(x3),1", the number of tasks on each node of a Slurm step.
std::optional<int> slurm_local_world(const Variables& variables) {
  const auto groups = split(variables.text("SLURM_STEP_TASKS_PER_NODE"), ',');
  auto node = parse_int(variables.text("SLURM_NODEID")).value_or(0);
  for (const auto& group : groups) {
    const auto open = group.find("(x");
    const auto tasks = parse_int(group.substr(0, open));
    if (!tasks) return std::nullopt;
    const auto nodes = open == std::string::npos
                           ? 1
                           : parse_int(group.substr(open + 2, group.size() - open - 3)).value_or(1);
    if (node < nodes) return static_cast<int>(*tasks);
    node -= nodes;
  }
  return std::nullopt;
}

void find_neighbours(const Variables& variables, const Claim& claim, LaunchPlace& place) {
  const auto local_rank = variables.number(claim.row.local_rank);
  auto local_world = variables.number(claim.row.local_world);
  if (place.launcher == "srun") local_world = slurm_local_world(variables);
  place.local_rank = local_rank.value_or(0);
  place.local_world = local_world.value_or(place.local_rank + 1);
  if (place.local_rank >= place.local_world)
    throw Error(ErrorCode::kConfig,
                fmt::format("{} with {}: local ranks go from 0 to {}", variables.shown(claim.row.local_rank),
                            variables.shown(claim.row.local_world), place.local_world - 1));
}

std::string identity_of(const Variables& variables, const std::string& launcher) {
  if (launcher == "torchrun")
    return variables.text("TORCHELASTIC_RUN_ID") + ":" + variables.text("MASTER_PORT");
  if (launcher == "srun") return variables.text("SLURM_JOB_ID") + "." + variables.text("SLURM_STEP_ID");
  if (launcher == "mpirun") return variables.text("PMIX_NAMESPACE");
  return variables.text("MASTER_ADDR") + ":" + variables.text("MASTER_PORT");
}

void fill_address(const Variables& variables, LaunchPlace& place) {
  const auto take = [&](const std::string& name, const std::string& address) {
    place.address = address, place.written = variables.shown(name);
  };
  const auto nodes = variables.first_set("SLURM_STEP_NODELIST,SLURM_JOB_NODELIST");
  if (variables.has("MASTER_ADDR")) return take("MASTER_ADDR", variables.text("MASTER_ADDR"));
  if (place.launcher == "srun" && variables.has(nodes)) return take(nodes, first_host(variables.text(nodes)));
  if (place.local_world != place.world)
    throw Error(ErrorCode::kConfig,
                fmt::format("MASTER_ADDR is not set, and {} does not say which host has rank 0; {}",
                            place.launcher, kAddressAdvice));
  place.address = "127.0.0.1";
}

bool is_port(long long number) {
  return number >= 1 && number <= 65'535;
}

int port_in(const Variables& variables, std::string_view name) {
  const auto port = variables.number(name).value_or(kRendezvousPort);
  if (!is_port(port))
    throw Error(ErrorCode::kConfig, fmt::format("{}: ports go from 1 to 65535", variables.shown(name)));
  return port;
}

int port_of(const Variables& variables, const LaunchPlace& place) {
  if (variables.has("MASTER_PORT")) return port_in(variables, "MASTER_PORT");
  const auto job = parse_int(variables.text("SLURM_JOB_ID"));
  const auto step = parse_int(variables.text("SLURM_STEP_ID")).value_or(0);  // steps of a job share nodes
  if (place.launcher == "srun" && job) return static_cast<int>(kFirstPort + (*job + 61 * step) % kPorts);
  if (place.identity.empty() || place.launcher != "mpirun") return kRendezvousPort;
  return static_cast<int>(kFirstPort + hash64(place.identity) % kPorts);
}

struct Endpoint {
  std::string host;
  int port = 0;
};

// "node0:29500", "[fd00::1]:29500"
std::optional<Endpoint> parse_endpoint(const std::string& text) {
  const auto colon = text.rfind(':');
  if (colon == std::string::npos) return std::nullopt;
  const auto port = parse_int(std::string_view(text).substr(colon + 1));
  auto host = text.substr(0, colon);
  if (host.starts_with('[') && host.ends_with(']'))
    host = host.substr(1, host.size() - 2);
  else if (host.find(':') != std::string::npos)
    return std::nullopt;
  if (host.empty() || !port || !is_port(*port)) return std::nullopt;
  return Endpoint{host, static_cast<int>(*port)};
}

// Errors name the variable or option, so that the user finds the mistake.
Endpoint endpoint_in(const std::string& text, std::string_view name, ErrorCode code) {
  if (const auto endpoint = parse_endpoint(text)) return *endpoint;
  throw Error(code,
              fmt::format("{} '{}': give the host of node 0 and a port that is free there (1 to 65535), "
                          "e.g. node0:29500 or [fd00::1]:29500",
                          name, text));
}

LaunchPlace place_of_node(int nodes, int node, int ranks, const Endpoint& where) {
  LaunchPlace place;
  place.rank = node * ranks, place.ranks = ranks, place.world = nodes * ranks;
  place.local_world = ranks;
  place.address = where.host, place.port = where.port;
  place.identity = fmt::format("{}:{}", where.host, where.port);
  return place;
}

// Whether the variables that torchrun needs on every host are set; PET_NNODES=1 alone means one pod.
bool is_multi_node_job(const Variables& variables) {
  const bool nodes = variables.has("PET_NNODES"), node = variables.has("PET_NODE_RANK");
  if (variables.text("PET_NNODES").find(':') != std::string::npos)
    throw Error(ErrorCode::kConfig,
                fmt::format("{}: an elastic job, in which only torchrun finds out how many hosts there are; "
                            "start it as 'torchrun --no-python paceline train …'",
                            variables.shown("PET_NNODES")));
  if (nodes && !node && *variables.number("PET_NNODES") == 1) return false;
  if (nodes != node)
    throw Error(ErrorCode::kConfig,
                fmt::format("{} is set, but {} is not; set both, or start it with torchrun",
                            variables.shown(nodes ? "PET_NNODES" : "PET_NODE_RANK"),
                            nodes ? "PET_NODE_RANK" : "PET_NNODES"));
  return nodes;
}

// Reads torchrun's own arguments as a Kubernetes operator sets them without running torchrun: a pod starts
// PET_NPROC_PER_NODE ranks itself. RANK without both variables counts pods, each of which is then one rank.
std::optional<LaunchPlace> operator_place(const Variables& variables) {
  const bool pair = variables.has("PET_NNODES") && variables.has("PET_NODE_RANK");
  if (variables.has("LOCAL_RANK") || (variables.has("RANK") && !pair)) return std::nullopt;
  if (!is_multi_node_job(variables)) return std::nullopt;
  const int nodes = *variables.number("PET_NNODES"), node = *variables.number("PET_NODE_RANK");
  const int ranks = variables.number("PET_NPROC_PER_NODE").value_or(1);
  if (node >= nodes || ranks < 1)
    throw Error(ErrorCode::kConfig,
                fmt::format("{} with {}: nodes go from 0 to {}, each with one rank or more",
                            variables.shown("PET_NODE_RANK"), variables.shown("PET_NNODES"), nodes - 1));
  const std::string said = variables.has("PET_MASTER_ADDR") ? "PET_MASTER_ADDR" : "PET_RDZV_ENDPOINT";
  const auto where = said == "PET_MASTER_ADDR"
                         ? Endpoint{variables.text(said), port_in(variables, "PET_MASTER_PORT")}
                         : endpoint_in(variables.text(said), said, ErrorCode::kConfig);
  auto place = place_of_node(nodes, node, ranks, where);
  place.launcher = "kubernetes", place.written = variables.shown(said);
  return place;
}

// The first number of what a pair of brackets contains: 01 of "01-03,7"; empty: there is none.
std::string first_number(const std::string& inside) {
  const auto number = inside.substr(0, inside.find_first_of(",-"));
  return number.find_first_not_of("0123456789") == std::string::npos ? number : std::string();
}

// The first name of a node list, whose brackets each stand for a number; empty: it has none.
std::string first_name(const std::string& list) {
  std::string name;
  for (std::size_t at = 0; at < list.size() && list[at] != ',';) {
    if (list[at] == ']') return {};
    if (list[at] != '[') {
      name += list[at++];
      continue;
    }
    const auto close = list.find(']', at);
    const auto number =
        close == std::string::npos || name.empty() ? "" : first_number(list.substr(at + 1, close - at - 1));
    if (number.empty()) return {};
    name += number;
    at = close + 1;
  }
  return name;
}

}  // namespace

std::string first_host(const std::string& node_list) {
  auto name = first_name(node_list);
  if (name.empty())
    throw Error(ErrorCode::kConfig,
                fmt::format("the node list '{}' has no first host; set MASTER_ADDR", node_list));
  return name;
}

LaunchPlace place_by_hand(int nodes, int node, int ranks, const std::string& endpoint) {
  const auto where = endpoint_in(endpoint, "--rdzv-endpoint", ErrorCode::kUsage);
  if (nodes < 1 || node < 0 || node >= nodes || ranks < 1)
    throw Error(ErrorCode::kUsage, fmt::format("--node-rank {} with --nnodes {}: nodes go from 0 to {}", node,
                                               nodes, nodes - 1));
  auto place = place_of_node(nodes, node, ranks, where);
  place.launcher = "by hand", place.written = "--rdzv-endpoint " + endpoint;
  return place;
}

std::optional<LaunchPlace> claimed_place(const Environment& environment) {
  const Variables variables(environment);
  if (const auto place = operator_place(variables)) return place;
  auto whole = environment;
  for (const auto& row : kLaunchers)
    if (!variables.has(variables.first_set(row.world))) whole.erase(std::string(row.rank));
  const auto claim = first_claim(Variables(whole));
  if (!claim) return std::nullopt;
  auto place = place_of(variables, *claim);
  place.local_world = variables.number(claim->row.local_world).value_or(place.world);
  return place;
}

std::optional<LaunchPlace> find_place(const Environment& environment) {
  const Variables variables(environment);
  if (const auto place = operator_place(variables)) return place;
  const auto claim = first_claim(variables);
  if (!claim) return std::nullopt;
  auto place = place_of(variables, *claim);
  find_neighbours(variables, *claim, place);
  place.identity = identity_of(variables, place.launcher);
  fill_address(variables, place);
  place.port = port_of(variables, place);
  place.agent_store = variables.text("TORCHELASTIC_USE_AGENT_STORE") == "True";
  place.attempt = variables.number("TORCHELASTIC_RESTART_COUNT").value_or(0);
  return place;
}

plugin::Rendezvous rendezvous_of(const LaunchPlace& place, double timeout_s) {
  plugin::Rendezvous where;
  where.address = place.address, where.port = place.port;
  where.serve = place.serves();
  where.prefix = "/paceline";
  where.timeout_s = timeout_s;
  return where;
}

}  // namespace paceline::cluster
