#include "loadgen/clients/channels/parts.h"

#include <algorithm>

namespace loadgen {

namespace {

class PartsInOrder final : public Parts {
 public:
  PartsInOrder(ReorderPool::File file, PartSizes sizes, Output& output)
      : pool_(file, sizes.part_bytes,
              std::max<std::size_t>(sizes.pool_bytes / sizes.part_bytes, 1)),
        output_(output) {}

  std::optional<FilePart> take() override { return pool_.take(); }
  bool has_room(const FilePart& part) const override { return pool_.has_room(part); }
  std::span<std::byte> room(const FilePart& part) override { return pool_.room(part); }

  void filled(const FilePart& part, std::size_t bytes) override {
    pool_.filled(part, bytes);
    for (auto next = pool_.next(); !next.empty(); next = pool_.next()) {
      output_.keep(pool_.end(), next);
      pool_.let_out(next.size());
    }
    most_waiting_bytes_ = std::max(most_waiting_bytes_, pool_.waiting_bytes());
  }

  void leave_room(const FilePart& part) override { pool_.leave_room(part); }
  std::size_t come(const FilePart& part) const override { return pool_.come(part); }
  void give_back(const FilePart& part) override { pool_.give_back(part); }
  bool is_over() const override { return pool_.is_over(); }
  std::size_t most_waiting_bytes() const override { return most_waiting_bytes_; }

 private:
  ReorderPool pool_;
  Output& output_;
  std::size_t most_waiting_bytes_ = 0;
};

// The pool only gives out the parts. Nothing waits, so all channels share one buffer.
class PartsInPlace final : public Parts {
 public:
  PartsInPlace(ReorderPool::File file, PartSizes sizes, Output& output)
      : parts_(file, sizes.part_bytes, 1),
        output_(output),
        buffer_(std::min<std::size_t>(sizes.part_bytes, kMostBufferBytes)),
        left_bytes_(file.size - file.from) {}

  std::optional<FilePart> take() override { return parts_.take(); }
  bool has_room(const FilePart&) const override { return true; }

  std::span<std::byte> room(const FilePart& part) override {
    return std::span(buffer_).first(std::min(buffer_.size(), part.bytes - come(part)));
  }

  void filled(const FilePart& part, std::size_t bytes) override {
    std::size_t& come = come_[part.number];
    output_.keep(part.offset + come, std::span(buffer_).first(bytes));
    come += bytes;
    left_bytes_ -= bytes;
    if (come == part.bytes) come_.erase(part.number);
  }

  void leave_room(const FilePart&) override {}

  std::size_t come(const FilePart& part) const override {
    const auto found = come_.find(part.number);
    return found == come_.end() ? 0 : found->second;
  }

  void give_back(const FilePart& part) override { parts_.give_back(part); }
  bool is_over() const override { return left_bytes_ == 0; }
  std::size_t most_waiting_bytes() const override { return 0; }

 private:
  static constexpr std::size_t kMostBufferBytes = 256 << 10;

  ReorderPool parts_;
  Output& output_;
  std::vector<std::byte> buffer_;
  std::uint64_t left_bytes_;
  std::map<std::uint64_t, std::size_t> come_;  // of parts that are not whole, by number
};

}  // namespace

std::unique_ptr<Parts> make_parts_in_order(ReorderPool::File file, PartSizes sizes,
                                           Output& output) {
  return std::make_unique<PartsInOrder>(file, sizes, output);
}

std::unique_ptr<Parts> make_parts_in_place(ReorderPool::File file, PartSizes sizes,
                                           Output& output) {
  return std::make_unique<PartsInPlace>(file, sizes, output);
}

}  // namespace loadgen
