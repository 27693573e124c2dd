#include "base/utf8.h"

#include <string>
#include <vector>

#include "tests/catch.h"

using base::is_utf8;

TEST_CASE("well-formed UTF-8", "[base]") {
  for (const char* text :
       {"", "abc", "\x7f", "\xc2\x80", "\xdf\xbf", "\xe0\xa0\x80", "\xed\x9f\xbf", "\xee\x80\x80",
        "\xef\xbf\xbf", "\xf0\x90\x80\x80", "\xf4\x8f\xbf\xbf"}) {
    CAPTURE(text);
    CHECK(is_utf8(text));
    CHECK(is_utf8(std::string("a") + text + "b"));
  }
  CHECK(is_utf8(std::string(1, '\0')));
}

TEST_CASE("malformed UTF-8", "[base]") {
  for (const char* text :
       {"\x80", "\xbf", "\xc0\x80", "\xc1\xbf", "\xc2", "\xc2\x41", "\xe0\x80\x80", "\xe0\x9f\xbf",
        "\xe2\x82", "\xed\xa0\x80", "\xed\xbf\xbf", "\xf0\x80\x80\x80", "\xf0\x8f\xbf\xbf",
        "\xf0\x90\x80", "\xf4\x90\x80\x80", "\xf5\x80\x80\x80", "\xf8\x80\x80\x80\x80", "\xff"}) {
    CAPTURE(text);
    CHECK_FALSE(is_utf8(text));
    CHECK_FALSE(is_utf8(std::string("a") + text + "b"));
  }
}

TEST_CASE("malformed bytes become U+FFFD, and the others stay", "[base]") {
  CHECK(base::as_utf8("") == "");
  CHECK(base::as_utf8("a\xc3\xa4z") == "a\xc3\xa4z");
  CHECK(base::as_utf8("a\xffz") == "a\xef\xbf\xbdz");
  CHECK(base::as_utf8("\xe2\x82") == "\xef\xbf\xbd\xef\xbf\xbd");
  CHECK(base::as_utf8("\xe2\x82z\xed\xa0\x80").size() == 16);
}

TEST_CASE("malformed bytes are one piece as far as a character could begin so", "[base]") {
  struct Row {
    const char* text;
    std::size_t size_bytes;
  };
  for (const auto& [text, size_bytes] : std::vector<Row>{{"\x80\x80", 1},
                                                         {"\xc0\x80", 1},
                                                         {"\xc2", 1},
                                                         {"\xc2z", 1},
                                                         {"\xe0\x9f\xbf", 1},
                                                         {"\xe2\x82", 2},
                                                         {"\xe2\x82z", 2},
                                                         {"\xed\xa0\x80", 1},
                                                         {"\xed\x9f\xc2", 2},
                                                         {"\xf0\x8f\xbf\xbf", 1},
                                                         {"\xf0\x9f\x98", 3},
                                                         {"\xf0\x9f\x98\xf0", 3},
                                                         {"\xf4\x90\x80\x80", 1},
                                                         {"\xf5\x80\x80\x80", 1},
                                                         {"\xff", 1}}) {
    CAPTURE(text);
    const auto front = base::utf8_front(text);
    CHECK_FALSE(front.code);
    CHECK(front.size_bytes == size_bytes);
  }
}

TEST_CASE("a text begins with a character", "[base]") {
  const auto letter = base::utf8_front("a\xff");
  CHECK(letter.code == 'a');
  CHECK(letter.size_bytes == 1);
  const auto face = base::utf8_front("\xf0\x9f\x98\x80z");
  CHECK(face.code == 0x1f600);
  CHECK(face.size_bytes == 4);
}
