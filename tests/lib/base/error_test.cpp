#include "base/error.h"

#include <set>

#include "tests/catch.h"

TEST_CASE("every error code has a word of its own and a text", "[base]") {
  std::set<std::string_view> words;
  for (const base::ErrorCode code : base::kAllErrorCodes) {
    words.insert(base::word_of(code));
    CHECK_FALSE(base::text_of(code).empty());
  }
  CHECK(words.size() == std::size(base::kAllErrorCodes));
}

TEST_CASE("only too-long, busy and internal end a connection", "[base]") {
  std::set<std::string_view> closing;
  for (const base::ErrorCode code : base::kAllErrorCodes) {
    if (base::closes_connection(code)) closing.insert(base::word_of(code));
  }
  CHECK(closing == std::set<std::string_view>{"too-long", "busy", "internal"});
}
