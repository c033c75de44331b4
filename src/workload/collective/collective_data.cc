// SPDX-License-Identifier: MIT
#include "workload/collective/collective_data.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <type_traits>

#include "base/error.h"
#include "base/half.h"

namespace paceline::workload {
namespace {

using plugin::CollectiveCall;

// A 16-bit floating type: how many bits its significand has, and how it becomes a float and back.
struct Half {
  static constexpr double kEpsilon = 0x1.0p-10;
  std::uint16_t bits = 0;
  Half() = default;
  explicit Half(double value) : bits(float_to_half(static_cast<float>(value))) {}
  explicit operator double() const { return half_to_float(bits); }
};
struct BFloat16 {
  static constexpr double kEpsilon = 0x1.0p-7;
  std::uint16_t bits = 0;
  BFloat16() = default;
  // Every value here has at most seven significant bits.
  explicit BFloat16(double value)
      : bits(static_cast<std::uint16_t>(std::bit_cast<std::uint32_t>(static_cast<float>(value)) >> 16U)) {}
  explicit operator double() const { return bfloat16_to_float(bits); }
};

template <typename T>
constexpr double epsilon() {
  if constexpr (std::is_integral_v<T>)
    return 0;
  else if constexpr (std::is_floating_point_v<T>)
    return std::numeric_limits<T>::epsilon();
  else
    return T::kEpsilon;
}

template <typename T>
T in_type_of(std::int64_t value) {
  if constexpr (std::is_arithmetic_v<T>)
    return static_cast<T>(value);
  else
    return T(static_cast<double>(value));
}

// Calls `work` with a value of the C++ type.
template <typename Work>
auto with_type(DType dtype, Work&& work) {
  switch (dtype) {
    case DType::kFloat32:
      return work(float{});
    case DType::kFloat64:
      return work(double{});
    case DType::kFloat16:
      return work(Half{});
    case DType::kBFloat16:
      return work(BFloat16{});
    case DType::kInt8:
      return work(std::int8_t{});
    case DType::kUInt8:
      return work(std::uint8_t{});
    case DType::kInt32:
      return work(std::int32_t{});
    case DType::kUInt32:
      return work(std::uint32_t{});
    case DType::kInt64:
      return work(std::int64_t{});
    case DType::kUInt64:
      return work(std::uint64_t{});
    default:
      throw Error(ErrorCode::kInternal, "collectives have no elements of this type");
  }
}

// Values that are moved unchanged: they name the sender, the block and the element.
constexpr std::int64_t kMovedValues = 61;  // prime, and exact in every type
std::int64_t moved(std::int64_t sender, std::int64_t block, std::int64_t i) {
  return (sender * 31 + block * 17 + i) % kMovedValues;
}

// Values to reduce. Element i is special on one rank, or two, so that every rank's part is seen somewhere.
constexpr std::int64_t kPeriod = 7;
bool special(RankOf of, std::int64_t i, std::int64_t ranks) {
  return (i + of.rank) % of.world < ranks;
}
std::int64_t summand(RankOf of, std::int64_t i) {
  return 1 + (special(of, i, 2) ? i % kPeriod : 0);
}
std::int64_t sum_of_all(std::int64_t world, std::int64_t i) {
  return world + std::min<std::int64_t>(world, 2) * (i % kPeriod);
}
std::int64_t reduced_part(Reduction reduction, RankOf of, std::int64_t i) {
  switch (reduction) {
    case Reduction::kSum:
    case Reduction::kAvg:
      return summand(of, i);
    case Reduction::kProd:
      return special(of, i, 1) ? 2 : 1;
    case Reduction::kMin:
      return special(of, i, 1) ? 1 : 2 + i % kPeriod;
    case Reduction::kMax:
      return special(of, i, 1) ? 1 + kPeriod : i % kPeriod;
  }
  return 0;
}
double reduced(Reduction reduction, std::int64_t world, std::int64_t i) {
  switch (reduction) {
    case Reduction::kSum:
      return static_cast<double>(sum_of_all(world, i));
    case Reduction::kAvg:
      return static_cast<double>(sum_of_all(world, i)) / static_cast<double>(world);
    case Reduction::kProd:
      return 2;
    case Reduction::kMin:
      return 1;
    case Reduction::kMax:
      return static_cast<double>(1 + kPeriod);
  }
  return 0;
}

// The i-th element that `of` sends.
std::int64_t sent(const CollectiveCall& call, RankOf of, std::int64_t i) {
  if (row_of(call.operation).reduces) return reduced_part(call.reduction, of, i);
  if (call.operation != Collective::kAllToAll) return moved(of.rank, 0, i);
  const auto block = call.send_count / of.world;
  return moved(of.rank, i / block, i % block);
}

// The i-th element that `of` must receive.
double expected(const CollectiveCall& call, RankOf of, std::int64_t i) {
  switch (call.operation) {
    case Collective::kAllReduce:
    case Collective::kReduce:
      return reduced(call.reduction, of.world, i);
    case Collective::kReduceScatter:
      return reduced(call.reduction, of.world, of.rank * call.receive_count + i);
    case Collective::kBroadcast:
      return static_cast<double>(moved(call.root, 0, i));
    case Collective::kSendRecv: {
      const auto sender = call.receive_from >= 0 ? call.receive_from : (of.rank + of.world - 1) % of.world;
      return static_cast<double>(moved(sender, 0, i));
    }
    case Collective::kAllGather:
      return static_cast<double>(moved(i / call.send_count, 0, i % call.send_count));
    case Collective::kAllToAll: {
      const auto block = call.receive_count / of.world;
      return static_cast<double>(moved(i / block, of.rank, i % block));
    }
    case Collective::kBarrier:
      return 0;
  }
  return 0;
}

// As the type holds the result: integers wrap, and divide without a rest.
template <typename T>
double in_type(double value) {
  if constexpr (std::is_integral_v<T>)
    return static_cast<double>(static_cast<T>(static_cast<std::int64_t>(value)));
  else
    return value;
}

bool defined_for(const CollectiveCall& call, RankOf of) {
  return call.operation != Collective::kBarrier &&
         (call.operation != Collective::kReduce || call.root == of.rank);
}

}  // namespace

std::vector<std::byte> sent_data(const CollectiveCall& call, RankOf of) {
  return with_type(call.dtype, [&](auto type) {
    using T = decltype(type);
    std::vector<std::byte> data(static_cast<std::size_t>(call.send_count) * sizeof(T));
    for (std::int64_t i = 0; i < call.send_count; ++i) {
      const T value = in_type_of<T>(sent(call, of, i));
      std::memcpy(data.data() + static_cast<std::size_t>(i) * sizeof(T), &value, sizeof(T));
    }
    return data;
  });
}

std::int64_t count_wrong(const CollectiveCall& call, RankOf of, const std::vector<std::byte>& received) {
  if (!defined_for(call, of)) return 0;
  return with_type(call.dtype, [&](auto type) {
    using T = decltype(type);
    // Each of the additions may round.
    const double tolerance =
        row_of(call.operation).reduces ? epsilon<T>() * static_cast<double>(of.world) : 0;
    std::int64_t wrong = 0;
    for (std::int64_t i = 0; i < call.receive_count; ++i) {
      T value{};
      std::memcpy(&value, received.data() + static_cast<std::size_t>(i) * sizeof(T), sizeof(T));
      const double must = in_type<T>(expected(call, of, i));
      const auto got = static_cast<double>(value);
      wrong += !(std::abs(got - must) <= tolerance * std::abs(must));
    }
    return wrong;
  });
}

}  // namespace paceline::workload
