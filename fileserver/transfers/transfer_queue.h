// The transfers that wait to be written to the transfer log.
#pragma once

#include <sched.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <cstdint>
#include <memory>

#include "fileserver/transfers/transfer.h"
#include "wire/line_buffer.h"
#include "wire/request.h"

namespace fileserver {

// A ring of fixed size without locks. Each cell has a sequence number, which says whose it is:
// `position` when the thread that took that position may write it, `position + 1` when it may be
// read, and `position + size` when it may be written again. What different threads write is on
// cache lines of its own, so the padding is wanted.
class TransferRing {  // NOLINT(clang-analyzer-optin.performance.Padding)
 public:
  enum class Pushed {
    kYes,
    kYesAndQuarter,  // as kYes; a quarter of the ring was filled since the last such answer
    kFull,
  };

  // `cells` is a power of two, and at least 4.
  explicit TransferRing(std::size_t cells)
      : mask_(cells - 1), cells_(std::make_unique<Cell[]>(cells)) {
    for (std::size_t i = 0; i < cells; ++i) cells_[i].sequence.store(i, std::memory_order_relaxed);
  }

  // Any thread; never waits. Copies the transfer, its names, its user and its link.
  Pushed push(const Transfer& transfer) {
    std::uint64_t position = end_.load(std::memory_order_relaxed);
    for (;;) {
      Cell& cell = cells_[position & mask_];
      const std::uint64_t sequence = cell.sequence.load(std::memory_order_acquire);
      if (sequence < position) return Pushed::kFull;
      if (sequence > position) {
        position = end_.load(std::memory_order_relaxed);
      } else if (end_.compare_exchange_weak(position, position + 1, std::memory_order_relaxed)) {
        cell.fill(transfer);
        cell.sequence.store(position + 1, std::memory_order_release);
        return (position & (mask_ >> 2)) == 0 ? Pushed::kYesAndQuarter : Pushed::kYes;
      }
    }
  }

  // One thread. Calls take(const Transfer&) for the oldest transfer and forgets it. Returns false
  // if there is none. If take() throws, the transfer is forgotten too.
  template <typename Take>
  bool take_one(Take take) {
    Cell& cell = cells_[begin_ & mask_];
    if (cell.sequence.load(std::memory_order_acquire) != begin_ + 1) return false;
    const GiveBack give_back{cell, begin_++ + mask_ + 1};
    take(cell.transfer);
    return true;
  }

 private:
  struct Cell {
    std::atomic<std::uint64_t> sequence;
    Transfer transfer;
    std::array<char, wire::kMaxLineBytes> name;
    std::array<char, wire::kMaxLineBytes> to;
    std::array<char, wire::kMaxUserBytes> user;
    std::array<char, wire::kTokenIdBytes> link;

    void fill(const Transfer& from) {
      transfer = from;
      transfer.name = copied(from.name, name);
      transfer.to = copied(from.to, to);
      transfer.user = copied(from.user, user);
      transfer.link = copied(from.link, link);
    }

    static std::string_view copied(std::string_view text, std::span<char> into) {
      return {into.data(), text.copy(into.data(), into.size())};
    }
  };

  struct GiveBack {
    Cell& cell;
    std::uint64_t sequence;
    ~GiveBack() { cell.sequence.store(sequence, std::memory_order_release); }
  };

  const std::uint64_t mask_;
  const std::unique_ptr<Cell[]> cells_;
  alignas(64) std::atomic<std::uint64_t> end_ = 0;  // relaxed: the sequences order everything
  alignas(64) std::uint64_t begin_ = 0;             // of the one thread that takes
};

// Eight rings. A thread uses the ring of the core that it runs on, so that cores rarely meet.
// Transfers of one core are taken in the order in which they ended, those of several cores nearly.
class TransferQueue {  // NOLINT(clang-analyzer-optin.performance.Padding)
 public:
  using Pushed = TransferRing::Pushed;

  // Has room for at least `least_capacity` transfers, and for less than twice as many and 32. One
  // of them takes about 1.5 KiB.
  explicit TransferQueue(std::size_t least_capacity)
      : cells_(std::max<std::size_t>(4, std::bit_ceil((least_capacity + kRings - 1) / kRings))) {}

  std::size_t capacity() const { return kRings * cells_; }

  // Any thread; never waits. kFull only if all rings are full.
  Pushed push(const Transfer& transfer) {
    const auto core = static_cast<unsigned>(::sched_getcpu());
    for (std::size_t i = 0; i < kRings; ++i) {
      const Pushed pushed = rings_[(core + i) % kRings].push(transfer);
      if (pushed != Pushed::kFull) return pushed;
    }
    return Pushed::kFull;
  }

  // One thread. As TransferRing::take_one(). Takes from the rings in turn.
  template <typename Take>
  bool take_one(Take take) {
    for (std::size_t i = 0; i < kRings; ++i) {
      if (rings_[next_ % kRings].take_one(take)) return true;
      ++next_;
    }
    return false;
  }

 private:
  static constexpr std::size_t kRings = 8;

  const std::size_t cells_;
  std::array<TransferRing, kRings> rings_{
      TransferRing(cells_), TransferRing(cells_), TransferRing(cells_), TransferRing(cells_),
      TransferRing(cells_), TransferRing(cells_), TransferRing(cells_), TransferRing(cells_)};
  std::size_t next_ = 0;
};

}  // namespace fileserver
