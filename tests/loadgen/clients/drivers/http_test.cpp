#include "loadgen/clients/drivers/http.h"

#include <string>
#include <utility>

#include "loadgen/clients/upload.h"
#include "tests/catch.h"
#include "tests/loadgen/clients/drivers/outcome.h"

using loadgen::Cause;
using loadgen::Fault;
using loadgen::HttpDriver;
using loadgen::Request;
using loadgen::RequestKind;
using tests::Outcome;

namespace {

constexpr Request kHttpGet{{"Aladdin", "open sesame"}, "f"};

Outcome outcome(RequestKind kind, const std::string& said, const Request& request = kHttpGet,
                bool is_kept = true) {
  HttpDriver driver("h:1", is_kept);
  Request of_kind = request;
  of_kind.kind = kind;
  CAPTURE(said);
  return tests::outcome_of(driver, of_kind, said);
}

Outcome http_get(const std::string& said) { return outcome(RequestKind::kGet, said); }

std::string sent(RequestKind kind, const Request& request, bool is_kept = true) {
  return outcome(kind, "HTTP/1.1 204 No Content\r\n\r\n", request, is_kept).sent;
}

}  // namespace

TEST_CASE("an HTTP get is one message, with Basic credentials", "[loadgen]") {
  CHECK(sent(RequestKind::kGet, kHttpGet) ==
        "GET /f HTTP/1.1\r\nHost: h:1\r\n"
        "Authorization: Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ==\r\n\r\n");
  CHECK(sent(RequestKind::kGet, {{"u", "pp"}, "f"}, false) ==
        "GET /f HTTP/1.1\r\nHost: h:1\r\nAuthorization: Basic dTpwcA==\r\n"
        "Connection: close\r\n\r\n");
  CHECK(sent(RequestKind::kGet, {{"uu", "\xc3\xbf\xff"}, "f"}).find(" dXU6w7//\r\n") !=
        std::string::npos);
}

TEST_CASE("a name is percent-encoded, but for its slashes", "[loadgen]") {
  CHECK(sent(RequestKind::kGet, {{"u", "p"}, "a b/\xc3\xb6-._~%2F?#+\r\n"})
            .starts_with("GET /a%20b/%C3%B6-._~%252F%3F%23%2B%0D%0A HTTP/1.1\r\n"));
}

TEST_CASE("an HTTP new is a POST of JSON", "[loadgen]") {
  CHECK(sent(RequestKind::kNew, {{"u", R"(p"\x)"}}) ==
        "POST /-/accounts HTTP/1.1\r\nHost: h:1\r\nContent-Type: application/json\r\n"
        "Content-Length: 32\r\n\r\n{\"user\":\"u\",\"password\":\"p\\\"\\\\x\"}");
}

TEST_CASE("a put has the length and the bytes of its file", "[loadgen]") {
  for (const std::uint64_t size : {1U, 1000U, 16U * 1024, 16U * 1024 + 1, 1'000'000U}) {
    CAPTURE(size);
    const std::string all = sent(RequestKind::kPut, {{"u", "p"}, "f", size});
    CHECK(
        all.starts_with("PUT /f HTTP/1.1\r\nHost: h:1\r\nAuthorization: Basic dTpw\r\n"
                        "Content-Length: " +
                        std::to_string(size) + "\r\n\r\n"));
    CHECK(all.size() - (all.find("\r\n\r\n") + 4) == size);
  }
}

TEST_CASE("only 200 with the announced bytes is right for get", "[loadgen]") {
  const Outcome right = http_get("HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nabc");
  CHECK_FALSE(right.failure);
  CHECK(right.keeps_connection);
  CHECK(right.file == "abc");
  CHECK_FALSE(http_get("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n").failure);

  CHECK(http_get("HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nabc").is_starving);
  CHECK(http_get("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nabc").left_bytes == 1);
  for (const char* said :
       {"HTTP/1.1 200 OK\r\n\r\nabc", "HTTP/1.0 200 OK\r\n\r\nabc",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nContent-Length: 3\r\n\r\nabc",
        "HTTP/1.1 206 Partial\r\nContent-Length: 3\r\n\r\nabc", "HTTP/1.1 204 No Content\r\n\r\n",
        "HTTP/1.1 201 Created\r\nContent-Length: 0\r\n\r\n", "HTTP/1.1 100 Continue\r\n\r\n",
        "OK 3\nabc", "HTTP/1.1 200 OK\nContent-Length: 3\n\nabc"}) {
    const Outcome wrong = http_get(said);
    CAPTURE(said);
    CHECK(wrong.failure == Fault::kProtocol);
    CHECK(wrong.file.empty());
    CHECK_FALSE(wrong.why.empty());
  }
}

TEST_CASE("a put is answered with 201 or 204, a new with 201", "[loadgen]") {
  const std::string created = "HTTP/1.1 201 Created\r\nContent-Length: 2\r\n\r\nok";
  const std::string replaced = "HTTP/1.1 204 No Content\r\n\r\n";
  const std::string ok = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";
  const std::string endless = "HTTP/1.1 201 Created\r\n\r\n";
  for (const auto kind : {RequestKind::kPut, RequestKind::kNew}) {
    CHECK_FALSE(outcome(kind, created).failure);
    CHECK(outcome(kind, created).keeps_connection);
    CHECK(outcome(kind, created).file.empty());
    CHECK(outcome(kind, ok).failure == Fault::kProtocol);
    CHECK(outcome(kind, endless).failure == Fault::kProtocol);
  }
  CHECK_FALSE(outcome(RequestKind::kPut, replaced).failure);
  CHECK(outcome(RequestKind::kPut, replaced).keeps_connection);
  CHECK(outcome(RequestKind::kNew, replaced).failure == Fault::kProtocol);
}

TEST_CASE("a refusal is the error of its status, and is shown", "[loadgen]") {
  using base::ErrorCode;
  const std::pair<int, Cause> causes[] = {
      {401, ErrorCode::kDenied},      {403, ErrorCode::kDenied}, {404, ErrorCode::kNotFound},
      {409, ErrorCode::kExists},      {429, ErrorCode::kBusy},   {421, ErrorCode::kBusy},
      {503, ErrorCode::kUnavailable}, {400, Fault::kProtocol},   {405, Fault::kProtocol},
      {422, Fault::kProtocol},        {500, Fault::kProtocol},   {301, Fault::kProtocol},
      {999, Fault::kProtocol}};
  for (const auto& [status, cause] : causes) {
    const std::string line = "HTTP/1.1 " + std::to_string(status) + " Because";
    for (const auto kind : {RequestKind::kGet, RequestKind::kPut, RequestKind::kNew}) {
      const Outcome refused = outcome(kind, line + "\r\nContent-Length: 2\r\n\r\nno");
      CHECK(refused.failure == cause);
      CHECK(refused.keeps_connection);
      CHECK(refused.why == line);
      CHECK(refused.left_bytes == 0);
      CHECK(refused.file.empty());
    }
  }
}

TEST_CASE("a connection is used again only if both sides say so", "[loadgen]") {
  const std::string ok = " 200 OK\r\nContent-Length: 0\r\n";
  CHECK(http_get("HTTP/1.1" + ok + "\r\n").keeps_connection);
  CHECK_FALSE(http_get("HTTP/1.1" + ok + "Connection: close\r\n\r\n").keeps_connection);
  CHECK_FALSE(http_get("HTTP/1.0" + ok + "\r\n").keeps_connection);
  CHECK_FALSE(
      outcome(RequestKind::kGet, "HTTP/1.1" + ok + "\r\n", kHttpGet, false).keeps_connection);

  // The end of these bodies is not waited for.
  for (const char* body : {"", "Transfer-Encoding: chunked\r\n", "Content-Length: 65537\r\n",
                           "Content-Length: 9999999999999999999\r\n"}) {
    const Outcome refused = http_get(std::string("HTTP/1.1 401 No\r\n") + body + "\r\n");
    CHECK(refused.failure == base::ErrorCode::kDenied);
    CHECK_FALSE(refused.keeps_connection);
  }
}

TEST_CASE("what uploads send looks random and is always the same", "[loadgen]") {
  const std::string_view bytes = loadgen::upload_bytes();
  CHECK(bytes.size() == 64 * 1024);
  CHECK(bytes.data() == loadgen::upload_bytes().data());
  std::size_t counts[256] = {};
  for (const char byte : bytes) ++counts[static_cast<unsigned char>(byte)];
  for (const std::size_t count : counts) CHECK((count > 128 && count < 512));
}

TEST_CASE("only the message of an HTTP get asks for a file", "[loadgen]") {
  for (const RequestKind kind : {RequestKind::kGet, RequestKind::kNew}) {
    HttpDriver driver("h:1", true);
    driver.begin({.account = {"u", "p"}, .file_name = "f", .kind = kind});
    CHECK(driver.next("").asks_for_file == (kind == RequestKind::kGet));
  }
}
