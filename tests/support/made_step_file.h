// SPDX-License-Identifier: MIT
// Writes step files as the library inside a training process does, from times that a test chooses.
#pragma once
#include <algorithm>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>
#include <vector>

#include "attach/step_record.h"

namespace paceline::testing {

class MadeStepFile {
 public:
  MadeStepFile(std::int64_t rank, std::int64_t world) {
    std::memcpy(header.magic, attach::kStepMagic, sizeof header.magic);
    header.version = attach::kStepVersion;
    header.header_bytes = attach::kHeaderBytes, header.name_bytes = attach::kNameBytes;
    header.name_slots = attach::kNameSlots, header.record_bytes = attach::kRecordBytes;
    header.rank = rank, header.world = world, header.local_rank = rank, header.rank_known = 1;
    header.process = 1000 + rank;
    header.realtime_ns = 1'790'857'026'000'000'000, header.monotonic_ns = kStart_ns;
    put(header.host, "node"), put(header.torch, "2.15.0+cpu"), put(header.backend, "gloo");
    put(header.command, "train.py");
  }

  static constexpr std::int64_t kStart_ns = 1'000'000'000'000;

  template <std::size_t kSize>
  static void put(char (&field)[kSize], std::string_view text) {
    std::memset(field, 0, kSize);
    std::memcpy(field, text.data(), std::min(kSize, text.size()));
  }

  std::uint16_t name(const std::string& text) {
    const auto at = std::ranges::find(names_, text) - names_.begin();
    if (at == std::ssize(names_)) names_.push_back(text);
    return static_cast<std::uint16_t>(at);
  }
  attach::StepRecord& add(attach::StepKind kind, std::int64_t begin_ns, std::int64_t end_ns,
                          const std::string& text = "") {
    attach::StepRecord record{};
    record.begin_ns = begin_ns, record.end_ns = end_ns;
    record.name = text.empty() ? attach::kNoName : name(text);
    record.kind = static_cast<std::uint8_t>(kind);
    return records.emplace_back(record);
  }
  void scope(const std::string& text, std::int64_t begin_ns, std::int64_t end_ns) {
    add(attach::StepKind::kScope, begin_ns, end_ns, text);
  }
  void backward(std::int64_t begin_ns, std::int64_t end_ns) {
    add(attach::StepKind::kBackward, begin_ns, end_ns);
  }
  void exchange(const std::string& text, std::int64_t begin_ns, std::int64_t end_ns,
                std::uint64_t bytes = 1 << 20) {
    auto& one = add(attach::StepKind::kCommunication, begin_ns, end_ns, text);
    one.value = bytes, one.group = attach::kNoGroup, one.flags = attach::kAsynchronous;
  }
  // The optimizer of this number has stepped.
  void stepped(std::int64_t at_ns, std::uint16_t optimizer = 0) {
    if (steps_.size() <= optimizer) steps_.resize(optimizer + std::size_t{1});
    auto& one = add(attach::StepKind::kStep, at_ns, at_ns);
    one.group = optimizer, one.value = ++steps_[optimizer];
  }

  [[nodiscard]] std::string bytes() const {
    auto head = header;
    if (head.names == 0) head.names = names_.size();
    if (head.used == 0) head.used = records.size();
    if (head.capacity == 0) head.capacity = records.size();
    std::string all(attach::step_file_bytes(std::max<std::uint64_t>(head.capacity, records.size())), '\0');
    std::memcpy(all.data(), &head, sizeof head);
    for (std::size_t i = 0; i < names_.size(); ++i)
      std::memcpy(all.data() + attach::kHeaderBytes + i * attach::kNameBytes, names_[i].data(),
                  std::min(names_[i].size(), attach::kNameBytes));
    std::memcpy(all.data() + attach::kRecordsAt, records.data(), records.size() * attach::kRecordBytes);
    return all;
  }
  void save(const std::filesystem::path& path) const {
    const auto all = bytes();
    std::ofstream(path, std::ios::binary).write(all.data(), static_cast<std::streamsize>(all.size()));
  }

  attach::StepHeader header{};
  std::vector<attach::StepRecord> records;

 private:
  std::vector<std::string> names_;
  std::vector<std::uint64_t> steps_;  // so far, by optimizer
};

}  // namespace paceline::testing
