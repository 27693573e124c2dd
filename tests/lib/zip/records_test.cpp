#include "zip/records.h"

#include <string>
#include <string_view>

#include "tests/catch.h"
#include "zip/directory.h"

namespace {

using zip::Entry;

// A little-endian number.
std::uint64_t number_at(std::string_view text, std::size_t at, std::size_t bytes) {
  std::uint64_t number = 0;
  for (std::size_t i = bytes; i-- > 0;)
    number = number << 8 | static_cast<unsigned char>(text[at + i]);
  return number;
}

std::string header_of(const Entry& entry) {
  std::string text;
  zip::append_local_header(entry, text);
  return text;
}

std::string record_of(const Entry& entry, std::uint64_t offset) {
  std::string text;
  zip::append_central_record(entry, true, offset, text);
  return text;
}

constexpr std::uint64_t kLarge = 0x1'2345'6789;
constexpr std::uint32_t kMark = 0xffffffff;

}  // namespace

TEST_CASE("a local header has the size, and the CRC or the promise of a descriptor", "[zip]") {
  const Entry known{
      .name = "a.txt", .modified_s = 1'700'000'000, .size_bytes = 3, .crc = 0x01020304};
  const std::string header = header_of(known);
  CHECK(header.substr(0, 4) == "PK\3\4");
  CHECK(number_at(header, 6, 2) == 0x800);  // UTF-8
  CHECK(number_at(header, 14, 4) == 0x01020304);
  CHECK(number_at(header, 18, 4) == 3);
  CHECK(number_at(header, 22, 4) == 3);
  CHECK(header.substr(30, 5) == "a.txt");
  CHECK(header.size() == 30 + 5 + 9);
  Entry later = known;
  later.crc.reset();
  const std::string promised = header_of(later);
  CHECK(number_at(promised, 6, 2) == 0x808);
  CHECK(number_at(promised, 14, 4) == 0);
  CHECK(number_at(promised, 22, 4) == 3);
}

TEST_CASE("a time is there for DOS in UTC, and exactly", "[zip]") {
  const std::string header = header_of({.name = "a", .modified_s = 1'700'000'001});
  CHECK(number_at(header, 10, 2) == (22U << 11 | 13U << 5 | 20U / 2));  // 22:13:20
  CHECK(number_at(header, 12, 2) == (43U << 9 | 11U << 5 | 14U));       // 2023-11-14
  CHECK(number_at(header, 31, 2) == 0x5455);
  CHECK(number_at(header, 36, 4) == 1'700'000'001);
}

TEST_CASE("a time that DOS or 32 bits do not have is the nearest one", "[zip]") {
  CHECK(number_at(header_of({.name = "a", .modified_s = -5}), 12, 2) == (1U << 5 | 1U));
  const std::string late = header_of({.name = "a", .modified_s = std::int64_t{1} << 40});
  CHECK(number_at(late, 12, 2) == (127U << 9 | 12U << 5 | 31U));
  CHECK(late.size() == 30 + 1);  // without the exact one
}

TEST_CASE("a name that is not UTF-8 is not called so", "[zip]") {
  CHECK(number_at(header_of({.name = "a\xff"}), 6, 2) == 0);
  CHECK(number_at(header_of({.name = "\xc3\xa4"}), 6, 2) == 0x800);
}

TEST_CASE("a size over 32 bits is in the fields of zip64", "[zip]") {
  const Entry large{.name = "a", .size_bytes = kLarge, .crc = 1};
  const std::string header = header_of(large);
  CHECK(number_at(header, 4, 2) == 45);
  CHECK(number_at(header, 22, 4) == kMark);
  CHECK(number_at(header, 31, 2) == 1);
  CHECK(number_at(header, 35, 8) == kLarge);
  CHECK(number_at(header, 43, 8) == kLarge);
  std::string descriptor;
  zip::append_descriptor(large, descriptor);
  CHECK(descriptor.size() == 24);
  CHECK(number_at(descriptor, 16, 8) == kLarge);
  descriptor.clear();
  zip::append_descriptor({.name = "a", .size_bytes = kMark - 1, .crc = 1}, descriptor);
  CHECK(descriptor.size() == 16);
  // What stands for "see zip64" is no size itself.
  CHECK(number_at(header_of({.name = "a", .size_bytes = kMark}), 35, 8) == kMark);
}

TEST_CASE("an offset over 32 bits is in zip64 alone", "[zip]") {
  const std::string record = record_of({.name = "a", .size_bytes = 5}, kLarge);
  CHECK(number_at(record, 24, 4) == 5);
  CHECK(number_at(record, 42, 4) == kMark);
  CHECK(number_at(record, 47, 2) == 1);
  CHECK(number_at(record, 49, 2) == 8);
  CHECK(number_at(record, 51, 8) == kLarge);
}

TEST_CASE("a folder is one for Unix and for DOS", "[zip]") {
  CHECK(number_at(record_of({.name = "a/"}, 0), 38, 4) == (040755U << 16 | 0x10U));
  CHECK(number_at(record_of({.name = "a"}, 0), 38, 4) == 0100644U << 16);
}

TEST_CASE("the end has zip64 only where it needs it", "[zip]") {
  std::string end;
  zip::append_end({65'534, 100, 50}, end);
  CHECK(end.size() == 22);
  CHECK(number_at(end, 10, 2) == 65'534);
  CHECK(number_at(end, 12, 4) == 50);
  CHECK(number_at(end, 16, 4) == 100);
  end.clear();
  zip::append_end({65'535, 100, 50}, end);
  CHECK(end.size() == 56 + 20 + 22);
  CHECK(number_at(end, 32, 8) == 65'535);
  CHECK(number_at(end, 56 + 8, 8) == 150);
  end.clear();
  zip::append_end({1, kLarge, 50}, end);
  CHECK(number_at(end, 48, 8) == kLarge);
  CHECK(number_at(end, 56 + 20 + 16, 4) == kMark);
}

TEST_CASE("a CRC goes on over pieces", "[zip]") {
  CHECK(zip::crc_with(0, "123456789") == 0xcbf43926);
  CHECK(zip::crc_with(zip::crc_with(0, "1234"), "56789") == 0xcbf43926);
}

TEST_CASE("a directory gives each folder once, also those that come later", "[zip]") {
  zip::Directory directory;
  CHECK(directory.next_folder().empty());
  directory.add({.name = "a"}, true, 0);
  directory.add({.name = "f/"}, true, 31);
  directory.add({.name = "g/"}, true, 62);
  CHECK(directory.next_folder() == "f/");
  directory.add({.name = "f/x/"}, true, 93);
  CHECK(directory.next_folder() == "g/");
  CHECK(directory.next_folder() == "f/x/");
  CHECK(directory.next_folder().empty());
  CHECK(directory.next_folder().empty());
  directory.add({.name = "g/y/"}, true, 124);
  CHECK(directory.next_folder() == "g/y/");
  CHECK(directory.entries() == 5);
}

TEST_CASE("a directory of many blocks loses no record", "[zip]") {
  zip::Directory directory;
  constexpr int kEntries = 5000;
  for (int i = 0; i < kEntries; ++i) {
    const std::string name = std::to_string(i) + (i % 2 == 0 ? "/" : ".txt");
    directory.add({.name = name}, true, static_cast<std::uint64_t>(i));
  }
  for (int i = 0; i < kEntries; i += 2) CHECK(directory.next_folder() == std::to_string(i) + "/");
  CHECK(directory.next_folder().empty());
  std::uint64_t bytes = 0;
  for (const std::string& block : directory.blocks()) bytes += block.size();
  CHECK(directory.blocks().size() > 2);
  CHECK(directory.memory_bytes() >= bytes);
  std::string end;
  directory.append_end(77, end);
  CHECK(number_at(end, 10, 2) == kEntries);
  CHECK(number_at(end, 12, 4) == bytes);
  CHECK(number_at(end, 16, 4) == 77);
}
