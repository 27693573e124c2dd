#include "loadgen/figures/cause.h"

#include <set>
#include <string>

#include "tests/catch.h"

using loadgen::Cause;
using loadgen::Fault;

TEST_CASE("every cause has its own index and its own word", "[loadgen]") {
  std::set<std::string_view> words;
  for (std::size_t i = 0; i < Cause::kCount; ++i) CHECK(words.insert(Cause::word_of(i)).second);
  CHECK(Cause::word_of(Cause(base::ErrorCode::kNotFound).index()) == "not-found");
  CHECK(Cause::word_of(Cause(base::ErrorCode::kInternal).index()) == "internal");
  CHECK(Cause::word_of(Cause(Fault::kTimeout).index()) == "timeout");
  CHECK(Cause::word_of(Cause(Fault::kProtocol).index()) == "protocol");
}
