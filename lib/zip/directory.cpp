#include "zip/directory.h"

namespace zip {

namespace {

constexpr std::size_t kRecordBytes = 46;  // without the name and the extra fields
constexpr std::size_t kNameSizeAt = 28;
constexpr std::size_t kExtraSizeAt = 30;

std::size_t number_at(std::string_view record, std::size_t at) {
  return static_cast<std::size_t>(static_cast<unsigned char>(record[at])) |
         static_cast<std::size_t>(static_cast<unsigned char>(record[at + 1])) << 8;
}

}  // namespace

void Directory::add(const Entry& entry, bool had_crc, std::uint64_t offset) {
  std::string record;
  append_central_record(entry, had_crc, offset, record);
  if (blocks_.empty() || blocks_.back().size() + record.size() > kBlockBytes)
    blocks_.emplace_back().reserve(kBlockBytes);
  blocks_.back() += record;
  bytes_ += record.size();
  ++entries_;
}

std::string_view Directory::next_folder() {
  while (next_block_ < blocks_.size()) {
    const std::string_view block = blocks_[next_block_];
    while (next_byte_ < block.size()) {
      const std::string_view record = block.substr(next_byte_);
      const std::size_t name_size = number_at(record, kNameSizeAt);
      next_byte_ += kRecordBytes + name_size + number_at(record, kExtraSizeAt);
      const std::string_view name = record.substr(kRecordBytes, name_size);
      if (name.ends_with('/')) return name;
    }
    if (next_block_ + 1 == blocks_.size()) break;  // this one may grow
    ++next_block_;
    next_byte_ = 0;
  }
  return {};
}

void Directory::append_end(std::uint64_t offset, std::string& to) const {
  zip::append_end({entries_, offset, bytes_}, to);
}

}  // namespace zip
