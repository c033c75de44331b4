// SPDX-License-Identifier: MIT
#include "workload/training/data/batch_supply.h"

#include <algorithm>

namespace paceline::workload {
namespace {

const std::atomic<bool> kNeverCancelled{false};

std::vector<std::vector<Tensor>> buffers_of_a_step(const BatchMaker& maker) {
  std::vector<std::vector<Tensor>> batches;
  for (std::int64_t i = 0; i < maker.micro_batches(); ++i) batches.push_back(maker.make_buffers());
  return batches;
}

}  // namespace

FixedSupply::FixedSupply(BatchMaker& maker) : batches_(buffers_of_a_step(maker)) {
  for (std::size_t i = 0; i < batches_.size(); ++i)
    maker.make(static_cast<std::int64_t>(i), batches_[i], kNeverCancelled);
}

std::span<Tensor> FixedSupply::take() {
  return batches_[taken_++ % batches_.size()];
}

DirectSupply::DirectSupply(BatchMaker& maker) : maker_(maker), batches_(buffers_of_a_step(maker)) {}

std::span<Tensor> DirectSupply::take() {
  auto& batch = batches_[static_cast<std::size_t>(next_) % batches_.size()];
  maker_.make(next_, batch, kNeverCancelled);
  ++next_;
  return batch;
}

PrefetchingSupply::PrefetchingSupply(BatchMaker& maker, std::int64_t workers, std::int64_t prefetch)
    : maker_(maker), ahead_(workers * std::max<std::int64_t>(prefetch, 1)) {
  slots_.resize(static_cast<std::size_t>(ahead_ + maker.micro_batches()));
  for (auto& slot : slots_) slot.buffers = maker.make_buffers();
  for (std::int64_t i = 0; i < workers; ++i)
    threads_.emplace_back([this](const std::stop_token& stop) { work(stop); });
}

PrefetchingSupply::~PrefetchingSupply() {
  cancelled_ = true;
}

PrefetchingSupply::Slot& PrefetchingSupply::slot(std::int64_t number) {
  return slots_[static_cast<std::size_t>(number) % slots_.size()];
}

bool PrefetchingSupply::may_start() const {
  const bool room = next_ < returned_ + static_cast<std::int64_t>(slots_.size());
  return !cancelled_ && room && next_ < taken_ + ahead_;
}

void PrefetchingSupply::work(const std::stop_token& stop) {
  std::unique_lock lock(mutex_);
  while (start_.wait(lock, stop, [&] { return may_start(); })) {
    const std::int64_t number = next_++;
    Slot& target = slot(number);
    ++busy_;
    lock.unlock();
    make(number, target);
    lock.lock();
    --busy_;
    target.ready = true;
    finished_.notify_all();
  }
}

void PrefetchingSupply::make(std::int64_t number, Slot& target) {
  try {
    maker_.make(number, target.buffers, cancelled_);
  } catch (...) {
    target.failure = std::current_exception();
  }
}

std::span<Tensor> PrefetchingSupply::take() {
  std::unique_lock lock(mutex_);
  Slot& next = slot(taken_);
  finished_.wait(lock, [&] { return next.ready; });
  if (next.failure) std::rethrow_exception(next.failure);
  next.ready = false;
  ++taken_;
  start_.notify_one();
  return next.buffers;
}

void PrefetchingSupply::give_back() {
  const std::lock_guard lock(mutex_);
  returned_ = taken_;
  start_.notify_all();
}

void PrefetchingSupply::seek(std::int64_t number) {
  std::unique_lock lock(mutex_);
  cancelled_ = true;
  finished_.wait(lock, [&] { return busy_ == 0; });
  for (auto& slot : slots_) slot.ready = false, slot.failure = nullptr;
  next_ = taken_ = returned_ = number;
  cancelled_ = false;
  start_.notify_all();
}

}  // namespace paceline::workload
