// Memory for the bytes of files, which the kernel sends without copying them.
#pragma once

#include <atomic>
#include <cstdint>
#include <span>
#include <utility>

#include "net/fd.h"
#include "net/socket_io.h"

namespace fileserver {

// One file without a name, in memory (memfd). Its ranges are handed out once each: the pages of a
// range that is given back are freed, and its place is not used again. So what the kernel still has
// to send from it does not change.
//
// Any thread. Must outlive its regions.
class SendableMemory {
 public:
  // A range of the memory, given back by the destructor.
  class Region {
   public:
    Region() = default;
    Region(const SendableMemory& memory, std::int64_t offset, std::int64_t bytes)
        : memory_(&memory), offset_(offset), bytes_(bytes) {}
    Region(Region&& other) noexcept { swap(other); }
    Region& operator=(Region&& other) noexcept {
      swap(other);
      return *this;
    }
    ~Region();

    bool is_empty() const { return memory_ == nullptr; }

    // The first `size_bytes`. Valid while the region lives.
    net::FilePart part(std::int64_t size_bytes) const {
      return {memory_->fd_.get(), offset_, static_cast<std::size_t>(size_bytes)};
    }

   private:
    friend class SendableMemory;
    void swap(Region& other) noexcept {
      std::swap(memory_, other.memory_);
      std::swap(offset_, other.offset_);
      std::swap(bytes_, other.bytes_);
    }

    const SendableMemory* memory_ = nullptr;
    std::int64_t offset_ = 0;
    std::int64_t bytes_ = 0;
  };

  // Makes the bytes of a region readable and writable while it lives.
  class Mapping {
   public:
    explicit Mapping(const Region& region);
    ~Mapping();
    Mapping(const Mapping&) = delete;
    Mapping& operator=(const Mapping&) = delete;

    // Null if the system could not map it.
    char* data() const { return bytes_.data(); }

   private:
    std::span<char> bytes_;
  };

  SendableMemory();

  // Requires: a multiple of 4096. The region is empty if the system has no such memory.
  Region take(std::int64_t bytes);

 private:
  std::int64_t place_for(std::int64_t bytes) const;

  const net::Fd fd_;
  const std::int64_t step_bytes_;  // regions begin at multiples of this
  std::atomic<std::int64_t> next_ = 0;
};

}  // namespace fileserver
