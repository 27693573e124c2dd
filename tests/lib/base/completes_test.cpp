#include "base/completes.h"

#include <new>
#include <stdexcept>

#include "tests/catch.h"

TEST_CASE("what is thrown is caught, and the caller goes on behind the handler", "[base]") {
  CHECK_FALSE(base::completes("a test failed", [] { throw std::bad_alloc(); }));
  CHECK(std::current_exception() == nullptr);
  CHECK_FALSE(base::completes("a test failed", [] { throw std::runtime_error("on purpose"); }));
}

TEST_CASE("work that throws nothing completes", "[base]") {
  bool is_done = false;
  CHECK(base::completes("a test failed", [&] { is_done = true; }));
  CHECK(is_done);
}
