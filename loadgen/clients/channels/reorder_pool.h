// Parts of one file that come by several connections, put in order in a bounded memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <vector>

namespace loadgen {

// A part of the file. All but the last one are as long as a buffer.
struct FilePart {
  std::uint64_t number;
  std::uint64_t offset;
  std::size_t bytes;
  bool operator==(const FilePart&) const = default;
};

// Gives out the parts in order, keeps what has come of them, and lets it out as one stream without
// gaps. So what was let out is always a true beginning of the file.
//
// A part takes a buffer with its first byte. The last free buffer is for the part whose turn it is:
// parts that came too early could otherwise take them all and wait for it for ever, while it waits
// for a buffer.
//
// It knows nothing of connections. Threads: one at a time.
class ReorderPool {
 public:
  enum class LastBuffer {
    kForNextPart,
    kForAnyone,  // how it must not be; a test shows why
  };

  // The parts of a file of this size, from an offset on. Requires: a buffer, of a byte or more.
  struct File {
    std::uint64_t from = 0;
    std::uint64_t size;
  };
  ReorderPool(File file, std::size_t buffer_bytes, std::size_t buffers,
              LastBuffer last = LastBuffer::kForNextPart);

  // The next part that nobody has, one that was given back first. None: all are given out.
  std::optional<FilePart> take();

  // Whether room() would have any.
  bool has_room(const FilePart& part) const;

  // Where the next bytes of this part belong; how many there are is up to the caller. Empty: there
  // is no buffer for it now. Requires: the part is taken, and not whole.
  std::span<std::byte> room(const FilePart& part);

  // So many bytes were put there. Requires: not more than there was room for.
  void filled(const FilePart& part, std::size_t bytes);

  // None came although there was room. The buffer is free again if nothing else is in it.
  void leave_room(const FilePart& part);

  // What has come of it so far, for a connection that asks for the rest.
  std::size_t come(const FilePart& part) const;

  // Its connection is gone. What has come of it stays.
  void give_back(const FilePart& part);

  // The bytes that are next in the file, as far as they have come: of one part. Empty: none.
  std::span<const std::byte> next() const;

  // So many of these are where they belong. Requires: next() had as many.
  void let_out(std::size_t bytes);

  // The bytes that have come and were not let out.
  std::size_t waiting_bytes() const { return waiting_bytes_; }

  // All bytes before this one are where they belong.
  std::uint64_t end() const { return end_; }
  bool is_over() const { return end_ == file_.size; }

  std::size_t buffers_in_use() const { return in_use_.size(); }
  std::size_t most_in_use() const { return most_in_use_; }

 private:
  struct Held {
    std::vector<std::byte> bytes;
    std::size_t come = 0;
  };

  FilePart part(std::uint64_t number) const;
  std::uint64_t next_number() const;

  File file_;
  std::size_t buffer_bytes_;
  std::size_t buffers_;
  LastBuffer last_;
  std::uint64_t end_;
  std::uint64_t given_out_ = 0;  // parts, from the first one
  std::map<std::uint64_t, FilePart> given_back_;
  std::map<std::uint64_t, Held> in_use_;  // by the number of the part
  std::vector<std::vector<std::byte>> spare_;
  std::size_t most_in_use_ = 0;
  std::size_t waiting_bytes_ = 0;
};

}  // namespace loadgen
