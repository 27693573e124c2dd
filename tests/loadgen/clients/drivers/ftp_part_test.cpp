// Parts of a file over FTP, and the look at it before.
#include <string>

#include "loadgen/clients/drivers/ftp.h"
#include "tests/catch.h"
#include "tests/loadgen/clients/drivers/outcome.h"

using loadgen::Cause;
using loadgen::Fault;
using loadgen::FtpData;
using loadgen::FtpDriver;
using loadgen::PartOfFile;
using loadgen::Request;
using loadgen::Step;

namespace {

constexpr Request kFtpPart{
    .account = {"u", "p"}, .file_name = "f", .part = PartOfFile{.offset = 10, .bytes = 4}};
constexpr Request kFtpLook{.account = {"u", "p"}, .file_name = "f", .part = PartOfFile{}};
const std::string kLogIn = "220 hello\r\n331 password\r\n230 welcome\r\n200 binary\r\n";
const std::string kPort = "229 here (|||6446|)\r\n";

tests::Outcome ftp_part(const std::string& said) {
  FtpDriver driver(FtpData::kEpsv);
  CAPTURE(said);
  return tests::outcome_if_cut(driver, kFtpPart, said, said.size());
}

}  // namespace

TEST_CASE("a part takes REST before RETR, and its own number of bytes", "[loadgen]") {
  const auto fetched = ftp_part(kLogIn + kPort + "350 there\r\n150 (10 bytes)\r\n226 sent\r\n");
  CHECK(fetched.sent ==
        "USER u\r\nPASS p\r\nTYPE I\r\nEPSV\r\n<port 6446>REST 10\r\nRETR f\r\n<data 4>");
  CHECK_FALSE(fetched.failure);
  CHECK(fetched.keeps_connection);
}

TEST_CASE("a server that could not send the rest keeps its connection", "[loadgen]") {
  const std::string begun = kLogIn + kPort + "350 there\r\n150 comes\r\n";
  for (const std::string end : {"426 cut\r\n", "451 cut\r\n", "150 took 0 s\r\n", "226 sent\r\n"}) {
    CHECK_FALSE(ftp_part(begun + end).failure);
    CHECK(ftp_part(begun + end).keeps_connection);
  }
  CHECK(ftp_part(begun + "421 bye\r\n").failure == Cause(base::ErrorCode::kBusy));
}

TEST_CASE("a server that does not know REST is an error", "[loadgen]") {
  const auto refused = ftp_part(kLogIn + kPort + "502 no REST here\r\n");
  CHECK(refused.failure == Fault::kProtocol);
  CHECK(refused.why == "502 no REST here");
  CHECK(ftp_part(kLogIn + kPort + "200 what\r\n").failure == Fault::kProtocol);
}

TEST_CASE("a look asks for size and date, each time", "[loadgen]") {
  FtpDriver driver(FtpData::kEpsv);
  const std::string said = kLogIn + "213 20\r\n213 20260101000000\r\n";
  const auto looked = tests::outcome_if_cut(driver, kFtpLook, said, said.size());
  CHECK(looked.sent == "USER u\r\nPASS p\r\nTYPE I\r\nSIZE f\r\nMDTM f\r\n");
  CHECK((!looked.failure && looked.keeps_connection));
  driver.begin(kFtpLook);
  CHECK(driver.next("").bytes == "SIZE f\r\n");
  CHECK(driver.next("213 21\r\n").bytes == "MDTM f\r\n");
  const Step seen = driver.next("213 20260101000001\r\n");
  CHECK((seen.whole_bytes == 21 && seen.version == "20260101000001"));
}

TEST_CASE("a server may know no date, but it has to know the size", "[loadgen]") {
  FtpDriver driver(FtpData::kEpsv);
  REQUIRE_FALSE(
      tests::outcome_if_cut(driver, kFtpLook, kLogIn + "213 20\r\n502 no\r\n", 0).failure);
  driver.begin(kFtpLook);
  driver.next("");
  CHECK(driver.next("550 no\r\n").failure == Cause(base::ErrorCode::kNotFound));
}
