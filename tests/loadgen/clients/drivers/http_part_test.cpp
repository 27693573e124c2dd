// Parts of a file over HTTP, and the look at it before.
#include <string>
#include <utility>

#include "loadgen/clients/drivers/http.h"
#include "tests/catch.h"
#include "tests/loadgen/clients/drivers/outcome.h"

using loadgen::Cause;
using loadgen::Fault;
using loadgen::HttpDriver;
using loadgen::PartOfFile;
using loadgen::Request;
using loadgen::Step;
using tests::Outcome;

namespace {

constexpr Request kPart{.account = {"u", "pp"},
                        .file_name = "f",
                        .part = PartOfFile{.offset = 10, .bytes = 4, .version = "\"v\""}};
constexpr Request kLook{.account = {"u", "pp"}, .file_name = "f", .part = PartOfFile{}};
const std::string kRange = "Content-Range: bytes 10-13/20\r\n";
const std::string kTag = "ETag: \"v\"\r\n";

Outcome part(const std::string& said) {
  HttpDriver driver("h", true);
  CAPTURE(said);
  return tests::outcome_of(driver, kPart, said);
}

std::string answer(const std::string& status, const std::string& fields, int length = 4) {
  return "HTTP/1.1 " + status + " X\r\n" + fields + "Content-Length: " + std::to_string(length) +
         "\r\n\r\n" + std::string(static_cast<std::size_t>(length), 'x');
}

// The last step of a look.
Step look(HttpDriver& driver, const std::string& said) {
  driver.begin(kLook);
  REQUIRE(driver.next("").kind == Step::Kind::kSend);
  return driver.next(said);
}

}  // namespace

TEST_CASE("a part is asked for with its range, of one version", "[loadgen]") {
  const Outcome fetched = part(answer("206", kRange + kTag));
  CHECK(fetched.sent ==
        "GET /f HTTP/1.1\r\nHost: h\r\nAuthorization: Basic dTpwcA==\r\n"
        "Range: bytes=10-13\r\nIf-Range: \"v\"\r\n\r\n");
  CHECK_FALSE(fetched.failure);
  CHECK(fetched.file == "xxxx");
  CHECK(fetched.keeps_connection);
  for (const std::string other : {"", "ETag: W/\"v\"\r\n"}) {  // that says of which version it is
    CHECK(part(answer("206", kRange + other)).failure == Fault::kProtocol);
  }
}

TEST_CASE("a part tells at once whether its connection takes another request", "[loadgen]") {
  for (const auto& [status_line, keeps] : {std::pair{"HTTP/1.1 206 X\r\n", true},
                                           {"HTTP/1.1 206 X\r\nConnection: close\r\n", false},
                                           {"HTTP/1.0 206 X\r\n", false}}) {
    HttpDriver driver("h", true);
    driver.begin(kPart);
    driver.next("");
    const Step step = driver.next(status_line + kRange + kTag + "Content-Length: 4\r\n\r\n");
    CHECK(step.kind == Step::Kind::kFile);
    CHECK(step.keeps_connection == keeps);
  }
}

TEST_CASE("408 is the end of a connection that was idle", "[loadgen]") {
  HttpDriver driver("h", true);
  CHECK(look(driver, "HTTP/1.1 408 Late\r\nContent-Length: 0\r\n\r\n").is_idle_end);
  CHECK_FALSE(look(driver, "HTTP/1.1 404 No\r\nContent-Length: 0\r\n\r\n").is_idle_end);
}

TEST_CASE("only exactly these bytes are the part", "[loadgen]") {
  for (const std::string fields :
       {"", "Content-Range: bytes 10-12/20\r\n", "Content-Range: bytes 9-12/20\r\n",
        "Content-Range: bytes */20\r\n", "Content-Range: bytes 10-13/*\r\n",
        "Content-Range: pages 10-13/20\r\n", "Content-Range: bytes 10/13-20\r\n"}) {
    CHECK(part(answer("206", fields + kTag)).failure == Fault::kProtocol);
  }
  CHECK(part(answer("206", kRange + kTag, 3)).failure == Fault::kProtocol);
  CHECK(part(answer("206", kRange + kRange + kTag)).failure == Fault::kProtocol);
  CHECK(part(answer("200", "")).failure == Fault::kProtocol);
  CHECK(part(answer("200", "ETag: \"v\"\r\n")).failure == Fault::kProtocol);
  CHECK(part(answer("416", "")).failure == Fault::kProtocol);
  CHECK(part(answer("404", "")).failure == Cause(base::ErrorCode::kNotFound));
}

TEST_CASE("a file of another version has changed, whole or in part", "[loadgen]") {
  CHECK(part(answer("200", "ETag: \"w\"\r\n")).failure == Fault::kChanged);
  CHECK(part(answer("206", kRange + "ETag: \"w\"\r\n")).failure == Fault::kChanged);
}

TEST_CASE("a look is HEAD, and tells the size and the version", "[loadgen]") {
  HttpDriver driver("h", true);
  driver.begin(kLook);
  CHECK(driver.next("").bytes ==
        "HEAD /f HTTP/1.1\r\nHost: h\r\nAuthorization: Basic dTpwcA==\r\n\r\n");
  const std::string said = "HTTP/1.1 200 OK\r\nContent-Length: 20\r\nETag: \"v\"\r\n\r\n";
  const Step seen = driver.next(said);
  CHECK(seen.kind == Step::Kind::kDone);
  CHECK_FALSE(seen.failure);
  CHECK(seen.taken_bytes == said.size());
  CHECK((seen.whole_bytes == 20 && seen.version == "\"v\"" && seen.keeps_connection));
}

TEST_CASE("a look needs a strong ETag and a length, and no body follows", "[loadgen]") {
  HttpDriver driver("h", true);
  const std::string ok = "HTTP/1.1 200 OK\r\n";
  for (const std::string fields :
       {"Content-Length: 2\r\n", "Content-Length: 2\r\nETag: W/\"v\"\r\n", "ETag: \"v\"\r\n",
        "ETag: \"v\"\r\nTransfer-Encoding: chunked\r\n"}) {
    const Step seen = look(driver, ok + fields + "\r\n");
    CAPTURE(fields);
    CHECK(seen.kind == Step::Kind::kDone);
    CHECK(seen.failure == Fault::kProtocol);
  }
  const Step missing = look(driver, "HTTP/1.1 404 Not Found\r\nContent-Length: 9\r\n\r\n");
  CHECK(missing.kind == Step::Kind::kDone);
  CHECK(missing.failure == Cause(base::ErrorCode::kNotFound));
}
