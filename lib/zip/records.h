// The records of a zip file whose entries are stored without compression, printed in the order in
// which they are sent. No files, no clock. APPNOTE.TXT of PKWARE describes them.
//
// Sizes, offsets and numbers of entries that do not fit into 32 or 16 bits are there as zip64.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace zip {

// A file or a folder. The name of a folder ends with a slash, and its size is 0.
struct Entry {
  std::string_view name;  // at most 65,535 bytes
  std::int64_t modified_s = 0;
  std::uint64_t size_bytes = 0;

  // Of the bytes. Nothing: it is not known yet, and a descriptor comes behind the bytes.
  std::optional<std::uint32_t> crc = 0;

  bool is_folder() const { return name.ends_with('/'); }
};

// What comes before the bytes. The size is there also if the CRC is not, so that a reader of a
// stream finds the end. Appends to `to`.
void append_local_header(const Entry& entry, std::string& to);

// What comes behind the bytes of an entry whose header has no CRC. Requires: `crc` is set now.
void append_descriptor(const Entry& entry, std::string& to);

// What the central directory has for the entry. `had_crc` is whether the local header had it.
// Requires: `crc` is set.
void append_central_record(const Entry& entry, bool had_crc, std::uint64_t offset, std::string& to);

// The CRC-32 of bytes that were taken in pieces; 0 before the first one.
std::uint32_t crc_with(std::uint32_t crc, std::string_view piece);

// What ends the file, behind the central directory.
struct End {
  std::uint64_t entries;
  std::uint64_t directory_offset;
  std::uint64_t directory_bytes;
};
void append_end(const End& end, std::string& to);

}  // namespace zip
