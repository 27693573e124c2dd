#include "base/json_text.h"

#include <nlohmann/json.hpp>
#include <random>
#include <string>
#include <vector>

#include "tests/catch.h"

using base::json_text;
using base::JsonText;

namespace {

struct Row {
  std::string text;
  std::string utf8;
  std::string ascii;
};

// What another library prints.
std::string reference(const std::string& text, JsonText form) {
  return nlohmann::json(text).dump(-1, ' ', form == JsonText::kAscii,
                                   nlohmann::json::error_handler_t::replace);
}

}  // namespace

TEST_CASE("a text as a string of JSON", "[base]") {
  const std::string replacement = "\xef\xbf\xbd";
  for (const auto& [text, utf8, ascii] : std::vector<Row>{
           {"", R"("")", R"("")"},
           {"a/b.txt", R"("a/b.txt")", R"("a/b.txt")"},
           {"\"\\\b\f\n\r\t", R"("\"\\\b\f\n\r\t")", R"("\"\\\b\f\n\r\t")"},
           {std::string(1, '\0'), R"("\u0000")", R"("\u0000")"},
           {"\x1b[2J\x1f", R"("\u001b[2J\u001f")", R"("\u001b[2J\u001f")"},
           {"~\x7f", "\"~\x7f\"", R"("~\u007f")"},
           {"\xc2\x9b", "\"\xc2\x9b\"", R"("\u009b")"},
           {"\xe2\x80\xa8", "\"\xe2\x80\xa8\"", R"("\u2028")"},
           {"\xef\xbf\xbf", "\"\xef\xbf\xbf\"", R"("\uffff")"},
           {"\xf0\x90\x80\x80", "\"\xf0\x90\x80\x80\"", R"("\ud800\udc00")"},
           {"\xf4\x8f\xbf\xbf", "\"\xf4\x8f\xbf\xbf\"", R"("\udbff\udfff")"},
           {"a\xff", "\"a" + replacement + "\"", R"("a\ufffd")"},
           {"\xe2\x82z", "\"" + replacement + "z\"", R"("\ufffdz")"},
           {"\xc0\x80", "\"" + replacement + replacement + "\"", R"("\ufffd\ufffd")"},
       }) {
    CAPTURE(text);
    CHECK(json_text(text, JsonText::kUtf8) == utf8);
    CHECK(json_text(text, JsonText::kAscii) == ascii);
  }
}

TEST_CASE("any bytes are printed as another library prints them", "[base]") {
  // Bytes that begin, continue and break characters are more frequent than by chance.
  constexpr std::string_view kOften = "a\"\\\n\x7f\x80\x8f\x9f\xa0\xbf\xc2\xe0\xe2\xed\xef\xf0\xf4";
  std::mt19937 random(44);
  for (int round = 0; round < 20'000; ++round) {
    std::string text(random() % 12, '\0');
    for (char& c : text)
      c = random() % 4 == 0 ? static_cast<char>(random()) : kOften[random() % kOften.size()];
    for (const JsonText form : {JsonText::kUtf8, JsonText::kAscii}) {
      const std::string printed = json_text(text, form);
      if (printed == reference(text, form)) continue;
      CAPTURE(text, form);
      CHECK(printed == reference(text, form));
    }
  }
}
