// The parts of a file that is under way, and what becomes of their bytes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "loadgen/clients/channels/output.h"
#include "loadgen/clients/channels/reorder_pool.h"

namespace loadgen {

// One thread.
class Parts {
 public:
  Parts() = default;
  virtual ~Parts() = default;
  Parts(const Parts&) = delete;
  Parts& operator=(const Parts&) = delete;

  // These are as in ReorderPool.
  virtual std::optional<FilePart> take() = 0;
  virtual bool has_room(const FilePart& part) const = 0;
  virtual std::span<std::byte> room(const FilePart& part) = 0;
  virtual void filled(const FilePart& part, std::size_t bytes) = 0;
  virtual void leave_room(const FilePart& part) = 0;
  virtual std::size_t come(const FilePart& part) const = 0;
  virtual void give_back(const FilePart& part) = 0;
  virtual bool is_over() const = 0;

  // The most bytes that had to wait for earlier ones.
  virtual std::size_t most_waiting_bytes() const = 0;
};

struct PartSizes {
  std::size_t part_bytes;
  std::size_t pool_bytes;
};

// The bytes go to `output` in their order; those that come early wait in a pool.
std::unique_ptr<Parts> make_parts_in_order(ReorderPool::File file, PartSizes sizes, Output& output);

// The bytes go to `output` as they come.
std::unique_ptr<Parts> make_parts_in_place(ReorderPool::File file, PartSizes sizes, Output& output);

}  // namespace loadgen
