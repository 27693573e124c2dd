#include "wire/reply.h"

#include "tests/catch.h"
#include "wire/error_word.h"

using namespace wire;

TEST_CASE("replies are read back as they were printed", "[wire]") {
  CHECK(std::holds_alternative<Ok>(parse_reply("OK")));
  CHECK(ok_sized_line(18446744073709551615ULL) == "OK 18446744073709551615\n");
  CHECK(std::get<OkSized>(parse_reply("OK 0")).size_bytes == 0);
  for (const base::ErrorCode code : wire::kErrorCodes) {
    std::string line = error_line(code, wire::text_of(code));
    line.pop_back();
    CHECK(std::get<Err>(parse_reply(line)).code == code);
  }
}

TEST_CASE("a line that is not a reply is recognized", "[wire]") {
  for (const char* line : {"", "ok", "OK ", "OK -1", "OK 1x", "OK  1", "OK 99999999999999999999",
                           "ERR", "ERR ", "ERR what ever", "ERRdenied", "HTTP/1.1 200 OK"}) {
    CAPTURE(line);
    CHECK(std::holds_alternative<NotAReply>(parse_reply(line)));
  }
}
