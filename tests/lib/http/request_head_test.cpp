#include "http/request_head.h"

#include <string>
#include <vector>

#include "tests/catch.h"
#include "tests/lib/http/parsed_head.h"

using http::Field;
using http::Method;
using testing::ParsedHead;

namespace {

std::string get(std::string_view lines) { return testing::request("GET", lines); }
std::string with_target(std::string_view target, std::string_view method = "GET") {
  return std::string(method) + " " + std::string(target) + " HTTP/1.1\r\nHost: x\r\n\r\n";
}
int status_of(std::string_view text) { return ParsedHead(text).status(); }

std::string head_of_size(std::size_t size) {
  const std::string start = "GET / HTTP/1.1\r\nHost: a\r\nA: ";
  return start + std::string(size - start.size() - 4, 'a') + "\r\n\r\n";
}

const std::string kFirefox =
    "GET /folder/file%20name.txt?a=b HTTP/1.1\r\n"
    "Host: files.example:8080\r\n"
    "User-Agent: Mozilla/5.0 (X11; Linux x86_64; rv:128.0) Gecko/20100101 Firefox/128.0\r\n"
    "Accept: text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8\r\n"
    "Accept-Encoding: gzip, deflate, br, zstd\r\n"
    "authorization:Basic YW15OnMz\r\n"
    "Connection: keep-alive\r\n"
    "If-None-Match: \"1\"\r\n"
    "Sec-Fetch-Site: none\r\n"
    "If-None-Match:\t\"2\" \t\r\n"
    "\r\n";

}  // namespace

TEST_CASE("a head of a browser is read", "[http]") {
  const ParsedHead head(kFirefox);
  REQUIRE(head.status() == 200);
  CHECK(head.size_bytes() == kFirefox.size());
  CHECK(head->method() == Method::kGet);
  CHECK(head->method_text() == "GET");
  CHECK(head->target() == "/folder/file%20name.txt?a=b");
  CHECK(head->path() == "/folder/file%20name.txt");
  CHECK_FALSE(head->is_1_0());
  CHECK(head->keeps_connection());
  CHECK_FALSE(head->expects_continue());
  CHECK(head->body().is_empty());
  CHECK(head->value(Field::kAuthorization) == "Basic YW15OnMz");
  CHECK(head->value(Field::kRange).empty());
  CHECK_FALSE(head->has(Field::kRange));
}

TEST_CASE("a field that came twice has no single value, but all are visited in order", "[http]") {
  const ParsedHead head(kFirefox);
  CHECK(head->count(Field::kIfNoneMatch) == 2);
  CHECK(head->value(Field::kIfNoneMatch).empty());
  std::vector<std::string_view> values;
  head->each(Field::kIfNoneMatch, [&](std::string_view value) { values.push_back(value); });
  CHECK(values == std::vector<std::string_view>{"\"1\"", "\"2\""});
  head->each(Field::kRange, [](std::string_view) { FAIL("there is no Range"); });
}

TEST_CASE("a copy of a head lives on", "[http]") {
  std::string bytes;
  const auto copy = [&] {
    const ParsedHead head(kFirefox + "body");
    return head->copied_to(bytes);
  }();
  CHECK(bytes == kFirefox);
  CHECK(copy.method() == Method::kGet);
  CHECK(copy.value(Field::kAuthorization) == "Basic YW15OnMz");
  CHECK(copy.count(Field::kIfNoneMatch) == 2);
}

TEST_CASE("any cut of a head gives the same result", "[http][no-threads]") {
  const std::vector<std::string> texts{
      kFirefox,
      "\r\n" + kFirefox + "GET",
      get("Transfer-Encoding: chunked\r\n") + "5\r\n",
      get("Content-Length: 7\r\nExpect: 100-continue\r\n"),
      get("Content-Length: 7\r\nExpect: 200-continue\r\n"),
      get("Content-Length: 7\r\nContent-Length: 7\r\n"),
      get("A: b\r\n c: d\r\n"),
      "GET / HTTP/1.1\nHost: x\n\n",
      "GET / HTTP/3.1\r\nHost: x\r\n\r\n",
      head_of_size(16384),
      head_of_size(16385),
      with_target("/" + std::string(8191, 'a')),
      with_target("/" + std::string(8192, 'a')),
      get([] {
        std::string lines;
        for (int i = 0; i < 100; ++i) lines += "A: b\r\n";
        return lines;
      }()),
  };
  for (const std::string& text : texts) {
    const ParsedHead whole(text);
    for (std::size_t piece = 1; piece < 40; ++piece) {
      CAPTURE(text.substr(0, 60), piece);
      const ParsedHead cut(text, piece);
      REQUIRE(cut.status() == whole.status());
      if (whole.status() != 200) continue;
      REQUIRE(cut.size_bytes() == whole.size_bytes());
      REQUIRE(cut->target() == whole->target());
      REQUIRE(cut->path() == whole->path());
      REQUIRE(cut->body().kind == whole->body().kind);
      REQUIRE(cut->body().size_bytes == whole->body().size_bytes);
      for (std::size_t i = 0; i < http::kKnownFields; ++i)
        REQUIRE(cut->value(static_cast<Field>(i)) == whole->value(static_cast<Field>(i)));
    }
  }
}

TEST_CASE("a part of a head is never complete", "[http]") {
  for (std::size_t size = 0; size < kFirefox.size(); ++size) {
    CAPTURE(size);
    REQUIRE(status_of(kFirefox.substr(0, size)) == 0);
  }
}

TEST_CASE("what follows the head is not looked at", "[http]") {
  const ParsedHead head(kFirefox + std::string("\0\n\xff", 3));
  CHECK(head.status() == 200);
  CHECK(head.size_bytes() == kFirefox.size());
}

TEST_CASE("one empty line before a head is skipped, a second one is not", "[http]") {
  const ParsedHead head("\r\n" + get(""));
  CHECK(head.status() == 200);
  CHECK(head->method_text() == "GET");
  CHECK(head.size_bytes() == get("").size() + 2);
  CHECK(status_of("\r\n\r\n" + get("")) == 400);
  CHECK(status_of("\r" + get("")) == 400);
  CHECK(status_of("\n" + get("")) == 400);
  CHECK(status_of("\r\n" + head_of_size(16384)) == 200);
}

TEST_CASE("a head of 16384 bytes is taken, one more is too many", "[http]") {
  CHECK(status_of(head_of_size(16383)) == 200);
  CHECK(status_of(head_of_size(16384)) == 200);
  CHECK(status_of(head_of_size(16385)) == 431);
  const std::string method(16384, 'A');
  CHECK(status_of(method.substr(1)) == 0);
  CHECK(status_of(method) == 431);
}

TEST_CASE("a target of 8192 bytes is taken, one more is too many", "[http]") {
  CHECK(status_of(with_target("/" + std::string(8190, 'a'))) == 200);
  CHECK(status_of(with_target("/" + std::string(8191, 'a'))) == 200);
  CHECK(status_of(with_target("/" + std::string(8192, 'a'))) == 414);
  CHECK(status_of(with_target("/?" + std::string(8191, 'a'))) == 414);
  CHECK(status_of("GET /" + std::string(8191, 'a')) == 0);
  CHECK(status_of("GET /" + std::string(8192, 'a')) == 414);
  // The request line is looked at first.
  CHECK(status_of(with_target("/" + std::string(30'000, 'a'))) == 414);
  const ParsedHead longest(with_target("/" + std::string(8191, 'a')));
  CHECK(longest->path().size() == 8192);
}

TEST_CASE("a hundred fields are taken, one more is too many", "[http]") {
  std::string lines;
  for (int i = 0; i < 98; ++i) lines += "A: b\r\n";  // and Host
  CHECK(status_of(get(lines)) == 200);
  CHECK(status_of(get(lines + "A: b\r\n")) == 200);
  CHECK(status_of(get(lines + "A: b\r\nA: b\r\n")) == 431);
}

TEST_CASE("targets have the forms that a server of files needs", "[http]") {
  const auto path_of = [](const std::string& target, const char* method = "GET") {
    const ParsedHead head(with_target(target, method));
    return head.status() == 200 ? std::string(head->path()) : std::to_string(head.status());
  };
  CHECK(path_of("/") == "/");
  CHECK(path_of("/a?b?c") == "/a");
  CHECK(path_of("/?") == "/");
  CHECK(path_of("/\x80\xff") == "/\x80\xff");
  CHECK(path_of("//a/../b") == "//a/../b");
  CHECK(path_of("http://a.b:1/c/d?e") == "/c/d");
  CHECK(path_of("HTTP://a") == "/");
  CHECK(path_of("http://a?b/c") == "/");
  CHECK(path_of("https://a.b:1/c/d?e") == "/c/d");
  CHECK(path_of("Https://a") == "/");
  CHECK(path_of("*", "OPTIONS") == "*");
  CHECK(path_of("a:1", "CONNECT") == "a:1");
  for (const char* bad : {"*", "a", "a/b", "http://", "http:///a", "http://?a", "https://",
                          "ftp://a", "/a#b", "#", "?a", "http:/a"}) {
    CAPTURE(bad);
    CHECK(path_of(bad) == "400");
  }
  CHECK(path_of("a", "OPTIONS") == "400");
  CHECK(path_of("a", "FISH") == "400");
  CHECK(path_of("/", "FISH") == "/");
}

TEST_CASE("methods are told apart by case", "[http]") {
  for (const auto& [text, method] :
       std::vector<std::pair<std::string, Method>>{{"GET", Method::kGet},
                                                   {"HEAD", Method::kHead},
                                                   {"PUT", Method::kPut},
                                                   {"DELETE", Method::kDelete},
                                                   {"POST", Method::kPost},
                                                   {"OPTIONS", Method::kOptions},
                                                   {"MKCOL", Method::kMkcol},
                                                   {"PROPFIND", Method::kPropfind},
                                                   {"PROPPATCH", Method::kProppatch},
                                                   {"MOVE", Method::kMove},
                                                   {"COPY", Method::kCopy},
                                                   {"LOCK", Method::kLock},
                                                   {"UNLOCK", Method::kUnlock},
                                                   {"CONNECT", Method::kConnect},
                                                   {"TRACE", Method::kTrace},
                                                   {"PATCH", Method::kPatch},
                                                   {"patch", Method::kOther},
                                                   {"get", Method::kOther},
                                                   {"GETS", Method::kOther},
                                                   {"!#$%&'*+-.^_`|~09", Method::kOther}}) {
    CAPTURE(text);
    const ParsedHead head(testing::request(text, ""));
    REQUIRE(head.status() == 200);
    CHECK(head->method() == method);
    CHECK(head->method_text() == text);
  }
}

TEST_CASE("the first request of HTTP/2 is told the version, not that it is malformed", "[http]") {
  CHECK(status_of("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n") == 505);
  CHECK(status_of("GET * HTTP/2.0\r\n") == 400);
}

TEST_CASE("HTTP/1.N is 1.1 for any N but 0", "[http]") {
  const auto is_1_0 = [](const char* version) {
    const ParsedHead head("GET / " + std::string(version) + "\r\nHost: x\r\n\r\n");
    REQUIRE(head.status() == 200);
    return head->is_1_0();
  };
  CHECK(is_1_0("HTTP/1.0"));
  CHECK_FALSE(is_1_0("HTTP/1.1"));
  CHECK_FALSE(is_1_0("HTTP/1.9"));
  CHECK(status_of("GET / HTTP/1.0\r\n\r\n") == 200);
  for (const char* other : {"HTTP/0.9", "HTTP/2.0", "HTTP/3.0", "HTTP/9.9"})
    CHECK(status_of("GET / " + std::string(other) + "\r\n") == 505);
}

TEST_CASE("the connection is kept as version and Connection say", "[http]") {
  const auto keeps = [](const char* version, const std::string& lines) {
    const ParsedHead head("GET / " + std::string(version) + "\r\nHost: x\r\n" + lines + "\r\n");
    REQUIRE(head.status() == 200);
    return head->keeps_connection();
  };
  CHECK(keeps("HTTP/1.1", ""));
  CHECK(keeps("HTTP/1.1", "Connection: upgrade, TE\r\n"));
  CHECK(keeps("HTTP/1.1", "Connection: closed\r\n"));
  CHECK_FALSE(keeps("HTTP/1.1", "Connection: Close\r\n"));
  CHECK_FALSE(keeps("HTTP/1.1", "Connection: keep-alive,close\r\n"));
  CHECK_FALSE(keeps("HTTP/1.1", "Connection: keep-alive\r\nConnection: a , close\r\n"));
  CHECK_FALSE(keeps("HTTP/1.0", ""));
  CHECK(keeps("HTTP/1.0", "Connection: Keep-Alive\r\n"));
  CHECK_FALSE(keeps("HTTP/1.0", "Connection: Keep-Alive, close\r\n"));
}

TEST_CASE("only the expectation of 100-continue is known", "[http]") {
  CHECK(ParsedHead(get("Expect: 100-Continue\r\n"))->expects_continue());
  CHECK(status_of(get("Expect: 100-continue; a\r\n")) == 417);
  CHECK(status_of(get("Expect: 200-ok\r\n")) == 417);
  CHECK(status_of(get("Expect: 100-continue\r\nExpect: b\r\n")) == 417);
  CHECK(status_of(get("Expect:\r\n")) == 417);
  const ParsedHead old("PUT / HTTP/1.0\r\nExpect: 100-continue\r\n\r\n");
  CHECK(old.status() == 200);
  CHECK_FALSE(old->expects_continue());
}

TEST_CASE("the body's length is framed", "[http]") {
  const auto body_of = [](const std::string& lines) {
    const ParsedHead head(testing::request("PUT", lines));
    REQUIRE(head.status() == 200);
    return head->body();
  };
  using Kind = http::Body::Kind;
  CHECK(body_of("").kind == Kind::kNone);
  CHECK(body_of("Content-Length: 0\r\n").is_empty());
  CHECK(body_of("Content-Length: 12\r\n").size_bytes == 12);
  CHECK_FALSE(body_of("Content-Length: 12\r\n").is_empty());
  CHECK(body_of("Content-Length: 0000000000000000012\r\n").size_bytes == 12);
  CHECK(body_of("content-LENGTH:\t9999999999999999999 \r\n").size_bytes == 9999999999999999999U);
  CHECK(body_of("Transfer-Encoding: Chunked\r\n").kind == Kind::kChunked);
  CHECK_FALSE(body_of("Transfer-Encoding: chunked\r\n").is_empty());
}

TEST_CASE("fields whose names have as many bytes are told apart", "[http]") {
  using http::field_of;
  CHECK(field_of("if-match") == Field::kIfMatch);
  CHECK(field_of("IF-RANGE") == Field::kIfRange);
  CHECK(field_of("Content-Range") == Field::kContentRange);
  CHECK(field_of("If-None-Match") == Field::kIfNoneMatch);
  CHECK(field_of("Authorization") == Field::kAuthorization);
  CHECK(field_of("If-Unmodified-Since") == Field::kIfUnmodifiedSince);
  CHECK(field_of("X-OC-Mtime") == Field::kXOcMtime);
  for (const std::string_view other : {"", "o", "if-matcH2", "hosts", "If-Unmodified-Since2"})
    CHECK(field_of(other) == Field::kOther);
}
