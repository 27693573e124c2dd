#include "wire/error_word.h"

#include <set>

#include "tests/catch.h"
#include "wire/line_buffer.h"

TEST_CASE("the error codes are listed in their own order", "[wire]") {
  for (std::size_t i = 0; i < wire::kErrorCodes.size(); ++i)
    CHECK(static_cast<std::size_t>(wire::kErrorCodes[i]) == i);
}

TEST_CASE("every error code has a word of its own and a text", "[wire]") {
  std::set<std::string_view> words;
  for (const base::ErrorCode code : wire::kErrorCodes) {
    words.insert(wire::word_of(code));
    CHECK_FALSE(wire::text_of(code).empty());
  }
  CHECK(words.size() == wire::kErrorCodes.size());
}

TEST_CASE("the text of too-long names the limit that holds", "[wire]") {
  const std::string_view text = wire::text_of(base::ErrorCode::kTooLong);
  CHECK(text.find(std::to_string(wire::kMaxLineBytes)) != std::string_view::npos);
}

TEST_CASE("only too-long, busy and internal end a connection", "[wire]") {
  std::set<std::string_view> closing;
  for (const base::ErrorCode code : wire::kErrorCodes) {
    if (wire::closes_connection(code)) closing.insert(wire::word_of(code));
  }
  CHECK(closing == std::set<std::string_view>{"too-long", "busy", "internal"});
}
