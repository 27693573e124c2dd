#include "loadgen/cause.h"

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

TEST_CASE("only a complete answer leaves a connection usable", "[loadgen]") {
  CHECK(Cause(base::ErrorCode::kDenied).leaves_connection_usable());
  CHECK(Cause(Fault::kMismatch).leaves_connection_usable());
  CHECK_FALSE(Cause(base::ErrorCode::kBusy).leaves_connection_usable());
  for (const Fault fault : {Fault::kTimeout, Fault::kConnect, Fault::kClosed, Fault::kProtocol}) {
    CHECK_FALSE(Cause(fault).leaves_connection_usable());
  }
}
