#include "http/status.h"

#include <array>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "http/answer.h"
#include "tests/catch.h"

using base::ErrorCode;
using http::Status;
using http::StatusRow;

namespace {

// The numbers of the rows for which `is_asked(row)` holds.
template <typename IsAsked>
std::vector<int> numbers(IsAsked is_asked) {
  std::vector<int> found;
  for (const StatusRow& row : http::kStatuses) {
    if (is_asked(row)) found.push_back(row.number);
  }
  return found;
}

std::vector<int> numbers_with(ErrorCode outcome) {
  return numbers([&](const StatusRow& row) { return row.outcome == outcome; });
}

std::string first_line(Status status) {
  std::array<char, 100> buffer;
  const std::string head(http::AnswerHead(buffer, status).finish());
  return head.substr(0, head.find('\r'));
}

}  // namespace

TEST_CASE("each status has one row, with a reason", "[http]") {
  std::set<std::string_view> reasons;
  int last = 199;
  for (const StatusRow& row : http::kStatuses) {
    CAPTURE(row.number);
    CHECK(row.number > last);
    CHECK(row.number < 600);
    CHECK_FALSE(row.reason.empty());
    CHECK(reasons.insert(row.reason).second);
    last = row.number;
  }
}

TEST_CASE("an answer ends the connection where what follows cannot be understood", "[http]") {
  const auto closing =
      numbers([](const StatusRow& row) { return row.behind == http::Behind::kCloses; });
  CHECK(closing == std::vector<int>{400, 411, 413, 414, 417, 431, 500, 505});
}

TEST_CASE("each status from 400 on counts as an error, but 416", "[http]") {
  const auto ok = numbers([](const StatusRow& row) { return !row.outcome; });
  CHECK(ok == std::vector<int>{200, 201, 204, 206, 207, 301, 304, 416});
  CHECK(numbers_with(ErrorCode::kSyntax) == std::vector<int>{400, 405, 411, 417, 501, 505});
  CHECK(numbers_with(ErrorCode::kDenied) == std::vector<int>{401, 403});
  CHECK(numbers_with(ErrorCode::kNotFound) == std::vector<int>{404});
  CHECK(numbers_with(ErrorCode::kExists) == std::vector<int>{409, 412, 423});
  CHECK(numbers_with(ErrorCode::kTooLong) == std::vector<int>{413, 414, 431});
  CHECK(numbers_with(ErrorCode::kInvalid) == std::vector<int>{415, 421, 422, 460, 502});
  CHECK(numbers_with(ErrorCode::kBusy) == std::vector<int>{429});
  CHECK(numbers_with(ErrorCode::kUnavailable) == std::vector<int>{503});
  CHECK(numbers_with(ErrorCode::kInternal) == std::vector<int>{500, 507});
}

TEST_CASE("a status is found by its number", "[http]") {
  const Status status = 404;
  CHECK(status.number() == 404);
  CHECK(status.reason() == "Not Found");
  CHECK(status.outcome() == ErrorCode::kNotFound);
  CHECK_FALSE(status.closes_connection());
  CHECK((status == Status(404)));
  CHECK_FALSE((status == Status(403)));
  CHECK(first_line(507) == "HTTP/1.1 507 Insufficient Storage");
}
