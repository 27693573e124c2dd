#include "fileserver/transfers/transfer_line.h"

#include <algorithm>
#include <limits>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "tests/catch.h"
#include "wire/line_buffer.h"
#include "wire/request.h"

using fileserver::Change;
using fileserver::LogUsers;
using fileserver::Transfer;
using Json = nlohmann::json;

namespace {

std::string line_of(const Transfer& transfer, LogUsers users = LogUsers::kOff) {
  std::string line;
  fileserver::append_line_of(transfer, 1'700'000'000'000'000'000, users, line);
  return line;
}

// As a line with users has it.
Json with_user(const Transfer& transfer) { return Json::parse(line_of(transfer, LogUsers::kOn)); }

std::string line_of_name(std::string_view name) {
  return line_of({.name = name, .error = base::ErrorCode::kNotFound});
}

}  // namespace

TEST_CASE("a transfer is one line of JSON", "[transfers]") {
  const serve::SizedReply whole{.size_bytes = 10,
                                .sent_bytes = 10,
                                .is_whole = true,
                                .first_byte_ns = 2'000,
                                .last_byte_ns = 1'000'000'999};
  CHECK(line_of({.name = "a/b.txt", .asked_ns = 1'000, .reply = whole, .size_bytes = 10}) ==
        "{\"result\":\"ok\",\"asked\":1700000000.000001,\"first_byte\":1700000000.000002,"
        "\"last_byte\":1700000001.000000,\"bytes\":10,\"size\":10,\"client\":\"unix\","
        "\"name\":\"a/b.txt\"}\n");
}

TEST_CASE("a change of the folder is told apart", "[transfers]") {
  const serve::SizedReply whole{.size_bytes = 3, .sent_bytes = 3, .is_whole = true};
  const Json put =
      Json::parse(line_of({.name = "a", .reply = whole, .size_bytes = 3, .change = Change::kPut}));
  CHECK(put["change"] == "put");
  CHECK(put["size"] == 3);
  const Json removed =
      Json::parse(line_of({.name = "a", .reply = {.is_whole = true}, .change = Change::kDelete}));
  CHECK(removed["change"] == "delete");
  CHECK(removed["result"] == "ok");
  CHECK_FALSE(removed.contains("size"));
  const Json refused = Json::parse(
      line_of({.name = "a", .error = base::ErrorCode::kExists, .change = Change::kMkcol}));
  CHECK(refused["change"] == "mkcol");
  CHECK(refused["result"] == "exists");
}

TEST_CASE("a transfer that was cut off, and one that was refused", "[transfers]") {
  const Json cut =
      Json::parse(line_of({.name = "a",
                           .reply = {.size_bytes = 10, .sent_bytes = 3, .first_byte_ns = 1},
                           .size_bytes = 10}));
  CHECK(cut["result"] == "aborted");
  CHECK(cut["bytes"] == 3);
  CHECK(cut["size"] == 10);
  const Json refused = Json::parse(line_of_name("a"));
  CHECK(refused["result"] == "not-found");
  CHECK(refused["bytes"] == 0);
  CHECK_FALSE(refused.contains("size"));
  CHECK_FALSE(refused.contains("first_byte"));
  CHECK_FALSE(refused.contains("last_byte"));
}

TEST_CASE("ranges are those of the file, each with its first and its last byte", "[transfers]") {
  const serve::SizedReply whole{.size_bytes = 20, .sent_bytes = 20, .is_whole = true};
  Transfer transfer{.name = "a", .reply = whole, .size_bytes = 1000};
  CHECK_FALSE(Json::parse(line_of(transfer)).contains("range"));
  transfer.set_ranges(std::vector<http::ByteRange>{{0, 10}, {100, 110}});
  const Json json = Json::parse(line_of(transfer));
  CHECK(json["range"] == Json::parse("[[0,9],[100,109]]"));
  CHECK(json["bytes"] == 20);
  CHECK(json["size"] == 1000);
}

TEST_CASE("a line with the most and the widest ranges has its limit", "[transfers]") {
  const std::string name(wire::kMaxLineBytes, '\xff');
  const auto most = std::numeric_limits<std::uint64_t>::max();
  const std::vector<http::ByteRange> ranges(http::kMaxParts, {most - 1, most});
  Transfer transfer{.name = name, .reply = {.first_byte_ns = 1}, .size_bytes = most};
  transfer.reply.sent_bytes = most;
  transfer.set_ranges(ranges);
  CHECK(line_of(transfer).size() <= fileserver::kMaxTransferLineBytes);
}

TEST_CASE("a line with two of the worst names and all that a user adds has its limit",
          "[transfers]") {
  const std::string name(wire::kMaxLineBytes, '\xff');
  const std::string user(wire::kMaxUserBytes, '@');
  const Transfer transfer{.name = name,
                          .error = base::ErrorCode::kUnavailable,
                          .reply = {.first_byte_ns = 1},
                          .change = Change::kCopy,
                          .to = name,
                          .user = user,
                          .method = "PROPPATCH",
                          .status = 503};
  const std::string line = line_of(transfer, LogUsers::kOn);
  CHECK(line.size() > 8000);
  CHECK(line.size() <= fileserver::kMaxTransferLineBytes);
}

TEST_CASE("a move and a copy have both names", "[transfers]") {
  const Json moved = Json::parse(
      line_of({.name = "a", .reply = {.is_whole = true}, .change = Change::kMove, .to = "b\"/c"}));
  CHECK(moved["change"] == "move");
  CHECK(moved["name"] == "a");
  CHECK(moved["to"] == "b\"/c");
  CHECK_FALSE(moved.contains("size"));
  const Json copied = Json::parse(
      line_of({.name = "a", .error = base::ErrorCode::kDenied, .change = Change::kCopy}));
  CHECK(copied["change"] == "copy");
  CHECK_FALSE(copied.contains("to"));
  const Json strange = Json::parse(line_of({.name = "a", .change = Change::kMove, .to = "\xff"}));
  CHECK(strange["to_hex"] == "ff");
}

TEST_CASE("only a line with users says who it was, and how it was asked", "[transfers]") {
  const Transfer by_http{.name = "a",
                         .error = base::ErrorCode::kDenied,
                         .user = "amy@example.org",
                         .method = "GET",
                         .status = 403};
  const std::string without = line_of(by_http);
  for (const char* const key : {"amy", "user", "method", "GET", "status", "403"})
    CHECK(without.find(key) == std::string::npos);
  const Json with = with_user(by_http);
  CHECK(with["user"] == "amy@example.org");
  CHECK(with["method"] == "GET");
  CHECK(with["status"] == 403);
  const Json native = with_user({.name = "a", .user = "amy"});
  CHECK(native["user"] == "amy");
  CHECK_FALSE(native.contains("method"));
  CHECK_FALSE(native.contains("status"));
}

TEST_CASE("a line of somebody unknown says so, and one of no file has no name", "[transfers]") {
  const Json json =
      with_user({.error = base::ErrorCode::kBusy, .method = "get:", .has_name = false});
  CHECK(json["user"].is_null());
  CHECK(json["method"] == "get:");
  CHECK_FALSE(json.contains("name"));
  CHECK(Json::parse(line_of_name(""))["name"] == "");
}

TEST_CASE("a name is kept whatever its bytes are", "[transfers]") {
  for (const std::string& name :
       {std::string("\"\\/"), std::string("\xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80"),
        std::string("\xc2\x9b\xe2\x80\xa8\x7f"), std::string("\",\"result\":\"ok")}) {
    const Json json = Json::parse(line_of_name(name));
    CHECK(json["name"] == name);
    CHECK_FALSE(json.contains("name_hex"));
    CHECK(json["result"] == "not-found");
  }
}

TEST_CASE("a name that is not UTF-8 is there in hexadecimal too", "[transfers]") {
  const Json json = Json::parse(line_of_name("a\xff\xc3z\xed\xa0\x80"));
  CHECK(json["name_hex"] == "61ffc37aeda080");
  CHECK(json["name"].get<std::string>().starts_with("a\xef\xbf\xbd"));
}

TEST_CASE("a line is printable ASCII and has a limit", "[transfers]") {
  for (int byte = 1; byte < 256; ++byte) {
    const std::string line =
        line_of_name(std::string(wire::kMaxLineBytes, static_cast<char>(byte)));
    CAPTURE(byte);
    CHECK(line.size() <= fileserver::kMaxTransferLineBytes);
    CHECK(std::all_of(line.begin(), line.end() - 1, [](char c) { return c >= 0x20 && c < 0x7f; }));
    CHECK(line.ends_with("}\n"));
  }
}
