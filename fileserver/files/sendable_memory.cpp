#include "fileserver/files/sendable_memory.h"

#include <fcntl.h>
#include <sys/mman.h>

#include <algorithm>
#include <fstream>

namespace fileserver {

namespace {

// The largest page that the system may use for such memory. Freeing a part of a page would
// overwrite that part, which may still have to be sent. So no two regions share a page.
std::int64_t largest_page_bytes() {
  constexpr std::int64_t kUsualBytes = std::int64_t{2} << 20;
  std::int64_t bytes = 0;
  std::ifstream("/sys/kernel/mm/transparent_hugepage/hpage_pmd_size") >> bytes;
  return std::max(bytes, kUsualBytes);
}

}  // namespace

SendableMemory::SendableMemory()
    : fd_(::memfd_create("files", MFD_CLOEXEC)), step_bytes_(largest_page_bytes()) {}

std::int64_t SendableMemory::place_for(std::int64_t bytes) const {
  return (bytes + step_bytes_ - 1) / step_bytes_ * step_bytes_;
}

SendableMemory::Region SendableMemory::take(std::int64_t bytes) {
  if (!fd_.is_open()) return {};
  Region region(*this, next_.fetch_add(place_for(bytes)), bytes);
  return ::fallocate(fd_.get(), 0, region.offset_, bytes) == 0 ? std::move(region) : Region();
}

SendableMemory::Region::~Region() {
  if (memory_ == nullptr) return;
  ::fallocate(memory_->fd_.get(), FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, offset_,
              memory_->place_for(bytes_));
}

SendableMemory::Mapping::Mapping(const Region& region) {
  void* const start =
      ::mmap(nullptr, static_cast<std::size_t>(region.bytes_), PROT_READ | PROT_WRITE, MAP_SHARED,
             region.memory_->fd_.get(), region.offset_);
  if (start != MAP_FAILED)
    bytes_ = {static_cast<char*>(start), static_cast<std::size_t>(region.bytes_)};
}

SendableMemory::Mapping::~Mapping() {
  if (bytes_.data() != nullptr) ::munmap(bytes_.data(), bytes_.size());
}

}  // namespace fileserver
