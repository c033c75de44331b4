// SPDX-License-Identifier: MIT
#pragma once
#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <exception>
#include <mutex>
#include <span>
#include <thread>
#include <vector>

#include "base/tensor.h"
#include "workload/training/data/batch_maker.h"

namespace paceline::workload {

// Supplies micro-batches in the order of their numbers. A taken one stays valid until give_back or seek. One
// thread takes, at most BatchMaker::micro_batches() of them between two calls of give_back.
class BatchSupply {
 public:
  virtual ~BatchSupply() = default;
  // The next micro-batch. An error in making one is thrown, and thrown again on the next call.
  virtual std::span<Tensor> take() = 0;
  virtual void give_back() = 0;
  virtual void seek(std::int64_t number) = 0;
};

// Makes the data of the first step once and returns them every time.
class FixedSupply : public BatchSupply {
 public:
  explicit FixedSupply(BatchMaker& maker);
  std::span<Tensor> take() override;
  void give_back() override { taken_ = 0; }
  void seek(std::int64_t) override { taken_ = 0; }

 private:
  std::vector<std::vector<Tensor>> batches_;
  std::size_t taken_ = 0;
};

// Makes each micro-batch when it is taken, on the thread that takes it.
class DirectSupply : public BatchSupply {
 public:
  explicit DirectSupply(BatchMaker& maker);
  std::span<Tensor> take() override;
  void give_back() override {}
  void seek(std::int64_t number) override { next_ = number; }

 private:
  BatchMaker& maker_;
  std::vector<std::vector<Tensor>> batches_;
  std::int64_t next_ = 0;
};

// Makes micro-batches in advance, in threads. Each thread takes the next free number, so a slow thread delays
// no other. Threads pause while workers * prefetch micro-batches are in work or made and not taken. The lock
// is not held while a micro-batch is made.
class PrefetchingSupply : public BatchSupply {
 public:
  PrefetchingSupply(BatchMaker& maker, std::int64_t workers, std::int64_t prefetch);
  ~PrefetchingSupply() override;
  std::span<Tensor> take() override;
  void give_back() override;
  void seek(std::int64_t number) override;

 private:
  struct Slot {
    std::vector<Tensor> buffers;
    bool ready = false;
    std::exception_ptr failure;
  };
  Slot& slot(std::int64_t number);
  [[nodiscard]] bool may_start() const;
  void work(const std::stop_token& stop);
  void make(std::int64_t number, Slot& target);

  BatchMaker& maker_;
  std::int64_t ahead_;
  std::vector<Slot> slots_;  // a ring: number modulo size
  std::mutex mutex_;
  std::condition_variable_any start_, finished_;
  std::int64_t next_ = 0;      // the first that no thread has begun
  std::int64_t taken_ = 0;     // all before it were taken
  std::int64_t returned_ = 0;  // all before it were given back
  int busy_ = 0;
  std::atomic<bool> cancelled_{false};
  std::vector<std::jthread> threads_;
};

}  // namespace paceline::workload
