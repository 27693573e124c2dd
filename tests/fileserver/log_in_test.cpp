#include "fileserver/log_in.h"

#include "net/address.h"
#include "tests/catch.h"

using fileserver::auth_failed_line;

namespace {

const net::IpAddress kClient(*net::resolve({"192.0.2.1", 80})->front().get());

std::string line_for(std::string_view user) {
  return auth_failed_line(kClient, user, fileserver::Front::kNative);
}

}  // namespace

TEST_CASE("the line for a failed log-in has its frozen form", "[fileserver]") {
  CHECK(line_for("amy") == R"(auth-failed address=192.0.2.1 user="amy" front=native)");
}

TEST_CASE("no user name can end its quotes or the line", "[fileserver]") {
  CHECK(
      line_for("a\" address=198.51.100.1 user=\"b") ==
      R"(auth-failed address=192.0.2.1 user="a\x22 address=198.51.100.1 user=\x22b" front=native)");
  CHECK(
      line_for("a\nauth-failed address=198.51.100.1") ==
      R"(auth-failed address=192.0.2.1 user="a\x0aauth-failed address=198.51.100.1" front=native)");
}
