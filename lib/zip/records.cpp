#include "zip/records.h"

#include <zlib.h>

#include <algorithm>
#include <chrono>
#include <concepts>
#include <limits>

#include "base/utf8.h"

namespace zip {

namespace {

constexpr std::uint32_t kLocalHeader = 0x04034b50;
constexpr std::uint32_t kDescriptor = 0x08074b50;
constexpr std::uint32_t kCentralRecord = 0x02014b50;
constexpr std::uint32_t kEnd64 = 0x06064b50;
constexpr std::uint32_t kEnd64Locator = 0x07064b50;
constexpr std::uint32_t kEnd = 0x06054b50;

constexpr std::uint16_t kNeeds20 = 20;  // folders
constexpr std::uint16_t kNeeds45 = 45;  // zip64
constexpr std::uint16_t kMadeByUnix = 3 << 8 | kNeeds45;
constexpr std::uint16_t kHasDescriptor = 1 << 3;
constexpr std::uint16_t kIsUtf8 = 1 << 11;
constexpr std::uint16_t kStored = 0;

constexpr std::uint16_t kZip64Field = 0x0001;
constexpr std::uint16_t kTimeField = 0x5455;
constexpr std::uint8_t kHasModified = 1;

constexpr std::uint16_t kIn64Of16 = 0xffff;  // the value is in the fields of zip64
constexpr std::uint32_t kIn64Of32 = 0xffffffff;

// Little-endian.
template <std::unsigned_integral Number>
void put(Number number, std::string& to) {
  for (std::size_t i = 0; i < sizeof number; ++i)
    to += static_cast<char>(static_cast<unsigned char>(number >> (8 * i)));
}

bool is_large(std::uint64_t number) { return number >= kIn64Of32; }

std::uint32_t in_32(std::uint64_t number) {
  return is_large(number) ? kIn64Of32 : static_cast<std::uint32_t>(number);
}

// In UTC, with steps of two seconds, from 1980 to 2107. The field of time has it exactly.
void put_dos_time(std::int64_t modified_s, std::string& to) {
  using std::chrono::sys_days;
  constexpr std::int64_t kFirst = 315'532'800;   // 1980-01-01
  constexpr std::int64_t kLast = 4'354'819'198;  // 2107-12-31 23:59:58
  const std::chrono::sys_seconds at(std::chrono::seconds(std::clamp(modified_s, kFirst, kLast)));
  const auto day = std::chrono::floor<std::chrono::days>(at);
  const std::chrono::year_month_day date(day);
  const std::chrono::hh_mm_ss time(at - day);
  const auto years = static_cast<unsigned>(static_cast<int>(date.year()) - 1980);
  put(static_cast<std::uint16_t>(time.hours().count() << 11 | time.minutes().count() << 5 |
                                 time.seconds().count() / 2),
      to);
  put(static_cast<std::uint16_t>(years << 9 | static_cast<unsigned>(date.month()) << 5 |
                                 static_cast<unsigned>(date.day())),
      to);
}

// The extra field of the exact time, if it fits into 32 bits.
std::string time_field(std::int64_t modified_s) {
  std::string field;
  if (modified_s != static_cast<std::int32_t>(modified_s)) return field;
  put(kTimeField, field);
  put(std::uint16_t{5}, field);
  put(kHasModified, field);
  put(static_cast<std::uint32_t>(static_cast<std::int32_t>(modified_s)), field);
  return field;
}

// From "version needed" to the length of the name, which both headers have.
void put_common(const Entry& entry, bool has_crc, bool is_zip64, std::string& to) {
  put(is_zip64 ? kNeeds45 : kNeeds20, to);
  const auto flags = static_cast<std::uint16_t>((has_crc ? 0 : kHasDescriptor) |
                                                (base::is_utf8(entry.name) ? kIsUtf8 : 0));
  put(flags, to);
  put(kStored, to);
  put_dos_time(entry.modified_s, to);
  put(entry.crc.value_or(0), to);
  put(in_32(entry.size_bytes), to);  // compressed
  put(in_32(entry.size_bytes), to);
  put(static_cast<std::uint16_t>(entry.name.size()), to);
}

}  // namespace

void append_local_header(const Entry& entry, std::string& to) {
  std::string extra;
  if (is_large(entry.size_bytes)) {
    put(kZip64Field, extra);
    put(std::uint16_t{16}, extra);
    put(entry.size_bytes, extra);
    put(entry.size_bytes, extra);
  }
  extra += time_field(entry.modified_s);
  put(kLocalHeader, to);
  put_common(entry, entry.crc.has_value(), is_large(entry.size_bytes), to);
  put(static_cast<std::uint16_t>(extra.size()), to);
  to.append(entry.name).append(extra);
}

void append_descriptor(const Entry& entry, std::string& to) {
  put(kDescriptor, to);
  put(entry.crc.value_or(0), to);
  for (int i = 0; i < 2; ++i) {
    if (is_large(entry.size_bytes)) {
      put(entry.size_bytes, to);
    } else {
      put(static_cast<std::uint32_t>(entry.size_bytes), to);
    }
  }
}

void append_central_record(const Entry& entry, bool had_crc, std::uint64_t offset,
                           std::string& to) {
  constexpr std::uint32_t kFileMode = 0100644U << 16;
  constexpr std::uint32_t kFolderMode = 0040755U << 16 | 0x10;  // a folder for DOS, too
  std::string large;
  if (is_large(entry.size_bytes)) {
    put(entry.size_bytes, large);
    put(entry.size_bytes, large);
  }
  if (is_large(offset)) put(offset, large);
  std::string extra;
  if (!large.empty()) {
    put(kZip64Field, extra);
    put(static_cast<std::uint16_t>(large.size()), extra);
    extra += large;
  }
  extra += time_field(entry.modified_s);
  put(kCentralRecord, to);
  put(kMadeByUnix, to);
  put_common(entry, had_crc, !large.empty(), to);
  put(static_cast<std::uint16_t>(extra.size()), to);
  put(std::uint16_t{0}, to);  // comment
  put(std::uint16_t{0}, to);  // disk
  put(std::uint16_t{0}, to);  // what kind of bytes
  put(entry.is_folder() ? kFolderMode : kFileMode, to);
  put(in_32(offset), to);
  to.append(entry.name).append(extra);
}

std::uint32_t crc_with(std::uint32_t crc, std::string_view piece) {
  return static_cast<std::uint32_t>(
      ::crc32_z(crc, reinterpret_cast<const unsigned char*>(piece.data()), piece.size()));
}

void append_end(const End& end, std::string& to) {
  const bool is_zip64 =
      end.entries >= kIn64Of16 || is_large(end.directory_offset) || is_large(end.directory_bytes);
  if (is_zip64) {
    put(kEnd64, to);
    put(std::uint64_t{44}, to);  // bytes of this record from here on
    put(kMadeByUnix, to);
    put(kNeeds45, to);
    put(std::uint32_t{0}, to);  // this disk, and that of the directory
    put(std::uint32_t{0}, to);
    put(end.entries, to);
    put(end.entries, to);
    put(end.directory_bytes, to);
    put(end.directory_offset, to);
    put(kEnd64Locator, to);
    put(std::uint32_t{0}, to);
    put(end.directory_offset + end.directory_bytes, to);  // of the record above
    put(std::uint32_t{1}, to);
  }
  const auto entries = static_cast<std::uint16_t>(std::min<std::uint64_t>(end.entries, kIn64Of16));
  put(kEnd, to);
  put(std::uint16_t{0}, to);
  put(std::uint16_t{0}, to);
  put(entries, to);
  put(entries, to);
  put(in_32(end.directory_bytes), to);
  put(in_32(end.directory_offset), to);
  put(std::uint16_t{0}, to);  // comment
}

}  // namespace zip
