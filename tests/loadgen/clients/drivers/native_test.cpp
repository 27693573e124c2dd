#include "loadgen/clients/drivers/native.h"

#include <string>

#include "tests/catch.h"
#include "tests/loadgen/clients/drivers/outcome.h"

using loadgen::Fault;
using loadgen::NativeDriver;
using loadgen::RequestKind;
using loadgen::Step;
using tests::Outcome;

namespace {

constexpr loadgen::Request kNativeGet{{"u", "p"}, "f"};
constexpr loadgen::Request kNew{.account = {"u", "p"}, .kind = RequestKind::kNew};

Outcome native_get(std::string_view said, bool is_pipelined = false) {
  NativeDriver driver(is_pipelined);
  return tests::outcome_of(driver, kNativeGet, said);
}

}  // namespace

TEST_CASE("the file name waits for the OK, unless it is pipelined", "[loadgen]") {
  for (const bool is_pipelined : {false, true}) {
    NativeDriver driver(is_pipelined);
    driver.begin(kNativeGet);
    CHECK(driver.next("").bytes == (is_pipelined ? "get:u:p\nf\n" : "get:u:p\n"));
    CHECK(driver.next("").kind == Step::Kind::kReceive);
    const Step then = driver.next("OK\n");
    CHECK(then.kind == Step::Kind::kSend);
    CHECK(then.taken_bytes == 3);
    CHECK(then.bytes == (is_pipelined ? "" : "f\n"));
  }
}

TEST_CASE("a connection that is logged in sends only the file name", "[loadgen]") {
  for (const bool is_pipelined : {false, true}) {
    NativeDriver driver(is_pipelined);
    driver.begin({.account = {"u", "p"}, .file_name = "f", .is_logged_in = true});
    CHECK(driver.next("").bytes == "f\n");
    const Step then = driver.next("OK 3\nab");
    CHECK(then.kind == Step::Kind::kFile);
    CHECK(then.size_bytes == 3);
  }
}

TEST_CASE("a file is received behind its reply", "[loadgen]") {
  for (const bool is_pipelined : {false, true}) {
    const Outcome outcome = native_get("OK\r\nOK 3\nabc", is_pipelined);
    CHECK_FALSE(outcome.failure);
    CHECK(outcome.keeps_connection);
    CHECK(outcome.file == "abc");
    CHECK(outcome.sent == "get:u:p\nf\n");
  }
}

TEST_CASE("a new is one line with one reply", "[loadgen]") {
  NativeDriver driver(false);
  const Outcome outcome = tests::outcome_of(driver, kNew, "OK\n");
  CHECK_FALSE(outcome.failure);
  CHECK(outcome.sent == "new:u:p\n");
  CHECK(tests::outcome_of(driver, kNew, "OK 1\nx").failure == Fault::kProtocol);
}

TEST_CASE("an error of the server is its code, and says whether the connection stays",
          "[loadgen]") {
  const Outcome missing = native_get("OK\nERR not-found no such file\n");
  CHECK(missing.failure == base::ErrorCode::kNotFound);
  CHECK(missing.keeps_connection);
  const Outcome busy = native_get("ERR busy try later\n");
  CHECK(busy.failure == base::ErrorCode::kBusy);
  CHECK_FALSE(busy.keeps_connection);
}

TEST_CASE("a pipelined file name is refused with its get", "[loadgen]") {
  const Outcome denied = native_get("ERR denied no\nERR denied no\n", true);
  CHECK(denied.failure == base::ErrorCode::kDenied);
  CHECK(denied.keeps_connection);
  CHECK(native_get("ERR unavailable no\nERR denied no\n", true).failure ==
        base::ErrorCode::kUnavailable);

  const Outcome busy = native_get("ERR denied no\nERR busy no\n", true);
  CHECK(busy.failure == base::ErrorCode::kBusy);
  CHECK_FALSE(busy.keeps_connection);
  for (const char* second : {"OK\n", "OK 1\nx"})
    CHECK(native_get(std::string("ERR denied no\n") + second, true).failure == Fault::kProtocol);
}

TEST_CASE("what is no reply is an error of the protocol", "[loadgen]") {
  for (const std::string& line : {std::string("HELLO\n"), std::string("ERR teapot x\n"),
                                  std::string("OK x\n"), std::string("\n"), std::string(512, 'x'),
                                  std::string("OK 5\nhello"), std::string("OK\nOK\n")}) {
    CAPTURE(line);
    const Outcome outcome = native_get(line);
    CHECK(outcome.failure == Fault::kProtocol);
    CHECK_FALSE(outcome.keeps_connection);
  }
}

TEST_CASE("the line with the file name asks for the file, and no other does", "[loadgen]") {
  for (const bool is_pipelined : {false, true}) {
    NativeDriver driver(is_pipelined);
    driver.begin(kNativeGet);
    CHECK(driver.next("").asks_for_file == is_pipelined);
    CHECK(driver.next("OK\n").asks_for_file == !is_pipelined);
    driver.begin({.account = {"u", "p"}, .file_name = "f", .is_logged_in = true});
    CHECK(driver.next("").asks_for_file);
  }
  NativeDriver driver(false);
  driver.begin(kNew);
  CHECK_FALSE(driver.next("").asks_for_file);
}
