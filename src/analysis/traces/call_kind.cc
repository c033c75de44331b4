// SPDX-License-Identifier: MIT
#include "analysis/traces/call_kind.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <string>

namespace paceline::analysis::traces {
namespace {

struct Word {
  std::string_view text;  // in small letters, without what is between words
  CallKind kind;
};
// The first that a name has: longer words come before those that they contain.
constexpr std::array<Word, 23> kCallWords{
    {{"reducescatter", CallKind::kReduceScatter},
     {"allreduce", CallKind::kAllReduce},
     {"crossdevicereduce", CallKind::kAllReduce},  // vLLM, SGLang, AITER
     {"userbuffersfp16sum", CallKind::kAllReduce},
     {"allgather", CallKind::kAllGather},
     {"alltoall", CallKind::kAllToAll},
     {"all2all", CallKind::kAllToAll},
     {"moea2a", CallKind::kAllToAll},
     {"deepep", CallKind::kAllToAll},  // it dispatches and combines
     {"sendrecv", CallKind::kSendReceive},
     {"sendreceive", CallKind::kSendReceive},
     {"broadcast", CallKind::kBroadcast},
     {"bcast", CallKind::kBroadcast},
     {"barrier", CallKind::kBarrier},
     {"wait", CallKind::kWait},
     {"gather", CallKind::kGather},
     {"scatter", CallKind::kScatter},
     {"send", CallKind::kSend},
     {"receive", CallKind::kReceive},
     {"recv", CallKind::kReceive},
     {"oneshot", CallKind::kAllReduce},
     {"twoshot", CallKind::kAllReduce},
     {"reduce", CallKind::kReduce}}};

// Names of libraries and of what they are made of, anywhere in the name of a kernel.
constexpr std::array<std::string_view, 19> kLibraries{"nccl",
                                                      "rccl",
                                                      "msccl",
                                                      "oneccl",
                                                      "xccl",
                                                      "mccl",
                                                      "hccl",
                                                      "hcom",
                                                      "nvshmem",
                                                      "rocshmem",
                                                      "ishmem",
                                                      "flagcx",
                                                      "multimem",
                                                      "symmmem",
                                                      "deepep",
                                                      "symmetricmemory",
                                                      "crossdevicereduce",
                                                      "quickreduce",
                                                      "userbuffers"};
// Names of collectives, but not where a compiler or a library of operators names what it fused.
constexpr std::array<std::string_view, 7> kCollectives{"allreduce", "allgather", "reducescatter", "alltoall",
                                                       "all2all",   "moea2a",    "lamport"};
constexpr std::array<std::string_view, 5> kComputing{"triton", "atnative", "voidatnative", "cutlass",
                                                     "voidcutlass"};

// As CallKind.
constexpr std::array<std::string_view, 14> kKindWords{
    "other",  "all-reduce", "reduce-scatter", "all-gather", "all-to-all", "barrier",      "broadcast",
    "reduce", "gather",     "scatter",        "send",       "receive",    "send-receive", "wait"};

bool is_between_words(char c) {
  return c == '_' || c == '-' || c == ':' || c == ' ';
}

// In one form: "ncclDevKernel_AllReduce_Sum" and "all-reduce" have "allreduce".
std::string plain(std::string_view name) {
  std::string text;
  for (const char c : name)
    if (!is_between_words(c)) text += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return text;
}

bool has(const std::string& text, std::string_view word) {
  return text.find(word) != std::string::npos;
}

}  // namespace

CallKind kind_of_call(std::string_view name) {
  const std::string text = plain(name);
  const auto word = std::ranges::find_if(kCallWords, [&](const Word& w) { return has(text, w.text); });
  return word == kCallWords.end() ? CallKind::kUnknown : word->kind;
}

std::string_view word_of(CallKind kind) {
  return kKindWords.at(static_cast<std::size_t>(kind));
}

bool is_communication_kernel(std::string_view name) {
  const std::string text = plain(name);
  const auto in_text = [&](std::string_view word) { return has(text, word); };
  const auto begins = [&](std::string_view word) { return text.starts_with(word); };
  return std::ranges::any_of(kLibraries, in_text) ||
         (std::ranges::any_of(kCollectives, in_text) && std::ranges::none_of(kComputing, begins));
}

}  // namespace paceline::analysis::traces
