#include "loadgen/clients/drivers/ftp.h"

#include <memory>
#include <string>
#include <vector>

#include "tests/catch.h"
#include "tests/loadgen/clients/drivers/outcome.h"

using loadgen::Cause;
using loadgen::Fault;
using loadgen::FtpData;
using loadgen::FtpDriver;
using loadgen::FtpReply;
using loadgen::Step;
using tests::Outcome;

namespace {

constexpr loadgen::Request kFtpGet{{"u", "p w"}, "a b"};
constexpr loadgen::Request kPut{.account = {"u", "p w"},
                                .file_name = "a b",
                                .size_bytes = 12,
                                .kind = loadgen::RequestKind::kPut};
constexpr loadgen::Request kOther{
    .account = {"u", "p"}, .file_name = "other", .is_logged_in = true};
const std::string kLoggedIn = "220 hello\r\n331 password\r\n230 welcome\r\n200 binary\r\n";
const std::string kFtpLogIn = kLoggedIn + "502 no SIZE here\r\n";
const std::string kPassivePort = "229 Extended Passive Mode OK (|||6446|)\r\n";
const std::string kFile = "150 comes\r\n226 sent\r\n";

// Of a driver that has asked for nothing yet.
Outcome outcome(const std::string& said, FtpDriver::Ways ways, FtpData data = FtpData::kEpsv,
                const loadgen::Request& request = kFtpGet) {
  std::unique_ptr<FtpDriver> driver;
  const auto fresh = [&]() -> loadgen::Driver& {
    driver = std::make_unique<FtpDriver>(data, ways);
    return *driver;
  };
  CAPTURE(said);
  return tests::outcome_of(fresh, request, said);
}

Outcome ftp_get(const std::string& said, FtpData data = FtpData::kEpsv) {
  return outcome(said, {}, data);
}

Outcome put(const std::string& said) { return outcome(said, {}, FtpData::kEpsv, kPut); }

// So few that a reply of them can be cut at each byte.
std::string lines_of(std::size_t size_bytes) {
  std::string lines;
  while (lines.size() < size_bytes) lines += std::string(255, 'x') + "\n";
  return lines;
}

std::optional<Cause> failure_of(const std::string& said) { return ftp_get(said).failure; }

}  // namespace

TEST_CASE("an FTP get logs in, asks for a port, and fetches", "[loadgen]") {
  const Outcome fetched = ftp_get(kFtpLogIn + kPassivePort + kFile);
  CHECK_FALSE(fetched.failure);
  CHECK(fetched.keeps_connection);
  CHECK(
      fetched.sent ==
      "USER u\r\nPASS p w\r\nTYPE I\r\nSIZE a b\r\nEPSV\r\n<port 6446>RETR a b\r\n<data unknown>");
}

TEST_CASE("an FTP server that needs no password gets none", "[loadgen]") {
  const Outcome fetched =
      ftp_get("220 hello\n230 welcome\n200 binary\n550 size?\n" + kPassivePort + kFile);
  CHECK_FALSE(fetched.failure);
  CHECK(fetched.sent.find("PASS") == std::string::npos);
}

TEST_CASE("the second FTP request of a connection does not log in", "[loadgen]") {
  FtpDriver driver(FtpData::kEpsv);
  const std::string said = kFtpLogIn + kPassivePort + kFile;
  REQUIRE_FALSE(tests::outcome_if_cut(driver, kFtpGet, said, said.size()).failure);
  driver.begin(kFtpGet);
  CHECK(driver.next("").bytes == "EPSV\r\n");
  driver.begin_connection();
  driver.begin(kFtpGet);
  CHECK(driver.next("").kind == Step::Kind::kReceive);
  CHECK(driver.next("220 hello\r\n").bytes == "USER u\r\n");
}

TEST_CASE("the log-in has ended when the type is set", "[loadgen]") {
  FtpDriver driver(FtpData::kEpsv);
  driver.begin_connection();
  driver.begin(kFtpGet);
  for (const char* said : {"220 a\n", "331 b\n", "230 c\n"})
    CHECK_FALSE(driver.next(said).is_logged_in);
  CHECK(driver.next("200 d\n").is_logged_in);
}

TEST_CASE("PASV is used if it is asked for, or if EPSV is not known", "[loadgen]") {
  const std::string passive = "227 Entering Passive Mode (10,1,2,3,25,46).\r\n";
  const Outcome asked = ftp_get(kFtpLogIn + passive + kFile, FtpData::kPasv);
  CHECK(asked.sent.ends_with("PASV\r\n<port 6446>RETR a b\r\n<data unknown>"));
  const Outcome not_known = ftp_get(kFtpLogIn + "500 what?\r\n" + passive + kFile);
  CHECK_FALSE(not_known.failure);
  CHECK(not_known.sent.ends_with("EPSV\r\nPASV\r\n<port 6446>RETR a b\r\n<data unknown>"));
  CHECK(failure_of(kFtpLogIn + "500 what?\r\n500 what?\r\n") == Fault::kProtocol);
  CHECK(failure_of(kFtpLogIn + "421 too many\r\n") == base::ErrorCode::kBusy);
}

TEST_CASE("the bytes that a server announces have to come", "[loadgen]") {
  const Outcome announced = ftp_get(kFtpLogIn + kPassivePort +
                                    "150 Opening BINARY mode for a (x) (12 bytes).\r\n226 x\r\n");
  CHECK(announced.sent.ends_with("<data 12>"));
  CHECK(ftp_get(kFtpLogIn + kPassivePort + "150 for a (12 kbytes)\r\n226 x\r\n")
            .sent.ends_with("unknown>"));
  CHECK(ftp_get(kFtpLogIn + kPassivePort + "150 for a (12 bytes)\r\n226 x\r\n")
            .sent.ends_with("<data 12>"));
}

TEST_CASE("a caller that must know the size has the server asked for it", "[loadgen]") {
  const auto get_asking = [](const std::string& said) {
    return outcome(said, {.sizes = FtpDriver::Sizes::kAlways});
  };
  const Outcome asked = get_asking(kLoggedIn + "213 12\r\n" + kPassivePort + kFile);
  CHECK_FALSE(asked.failure);
  CHECK(asked.sent.ends_with("SIZE a b\r\nEPSV\r\n<port 6446>RETR a b\r\n<data 12>"));
  CHECK(get_asking(kLoggedIn + "550 no such file\r\n").failure == base::ErrorCode::kNotFound);
  for (const char* said : {"500 what?\r\n", "213 \r\n", "213 x\r\n", "213 1 2\r\n", "200 12\r\n"})
    CHECK(get_asking(kLoggedIn + said).failure == Fault::kProtocol);
}

TEST_CASE("a request of a user who is logged in begins with the file", "[loadgen]") {
  FtpDriver driver(FtpData::kEpsv);
  loadgen::Request request = kPut;
  request.is_logged_in = true;
  driver.begin(request);
  CHECK(driver.next("").bytes == "EPSV\r\n");
}

TEST_CASE("replies of several lines are one reply", "[loadgen]") {
  CHECK_FALSE(
      failure_of("220-a\r\n221 b\r\n\r\n220- c\r\n 220 d\r\n220 e\r\n331 x\r\n230-\r\n"
                 "230\r\n200 x\r\n550-\r\n550 size?\r\n" +
                 kPassivePort + kFile));
}

TEST_CASE("what an FTP server refuses is the nearest error", "[loadgen]") {
  CHECK(failure_of("421 too many\r\n") == base::ErrorCode::kBusy);
  CHECK(failure_of("220 a\r\n331 b\r\n530 no\r\n") == base::ErrorCode::kDenied);
  CHECK(failure_of("220 a\r\n331 b\r\n430 no\r\n") == Fault::kProtocol);
  CHECK(failure_of(kFtpLogIn + kPassivePort + "450 in use\r\n") == Fault::kProtocol);
  const Outcome missing = ftp_get(kFtpLogIn + kPassivePort + "550 no such file\r\n");
  CHECK(missing.failure == base::ErrorCode::kNotFound);
  CHECK(missing.keeps_connection);
  CHECK(missing.why == "550 no such file");
  const Outcome cut = ftp_get(kFtpLogIn + kPassivePort + "150 x\r\n426 cut\r\n");
  CHECK(cut.failure == Fault::kProtocol);
  CHECK(cut.why == "426 cut");
  CHECK_FALSE(cut.keeps_connection);
  CHECK_FALSE(ftp_get("220 a\r\n331 b\r\n550 no\r\n").keeps_connection);
}

TEST_CASE("what is no FTP is not understood", "[loadgen][no-threads]") {
  for (const std::string& said : std::vector<std::string>{
           "HTTP/1.1 400 Bad Request\r\n", "\r\n", "22 x\r\n", "2200 x\r\n", "220x\r\n",
           "620 x\r\n", std::string("220 \0\r\n", 7), "220 \x7f\r\n", "331 not yet\r\n",
           "220-" + std::string(loadgen::kMaxFtpReplyBytes, 'x'),
           "220-\r\n" + lines_of(loadgen::kMaxFtpReplyBytes), kFtpLogIn + "229 no port\r\n",
           kFtpLogIn + "229 (|||0|)\r\n", kFtpLogIn + "229 (|||65536|)\r\n",
           kFtpLogIn + "229 (|||1)\r\n", kFtpLogIn + "227 (1,2,3,4,5,6)\r\n",
           kFtpLogIn + kPassivePort + "226 x\r\n", kFtpLogIn + kPassivePort + "150 x\r\n150 x\r\n",
           kFtpLogIn + kPassivePort + "550-x\r\n550 y\r\n226 z\r\n"}) {
    CAPTURE(said);
    const Outcome refused = ftp_get(said);
    CHECK((refused.failure == Fault::kProtocol || refused.left_bytes > 0));
  }
  for (const char* said : {"227 (1,2,3,4,5)\r\n", "227 (1,2,3,4,5,256)\r\n", "227 x\r\n",
                           "227 (1,2,3,4,0,0)\r\n", "229 (|||1|)\r\n"})
    CHECK(ftp_get(kFtpLogIn + said, FtpData::kPasv).failure == Fault::kProtocol);
}

TEST_CASE("a reply has a bound, whatever comes", "[loadgen]") {
  const std::string text(loadgen::kMaxFtpReplyBytes - 7, 'x');
  CHECK(loadgen::read_ftp_reply("220 " + text + "\r\n").state == FtpReply::State::kWhole);
  CHECK(loadgen::read_ftp_reply("220 " + text + "xx\r\n").state == FtpReply::State::kMalformed);
  CHECK(loadgen::read_ftp_reply("220-" + text).state == FtpReply::State::kNeedMore);
}

TEST_CASE("RETR asks for the file, and the data connection is there before", "[loadgen]") {
  FtpDriver driver(FtpData::kEpsv);
  driver.begin_connection();
  driver.begin(kFtpGet);
  for (const char* said :
       {"220 a\n", "331 b\n", "230 c\n", "200 d\n", "550 e\n", kPassivePort.c_str()})
    CHECK_FALSE(driver.next(said).asks_for_file);
  const Step retrieve = driver.next("");
  CHECK(retrieve.bytes == "RETR a b\r\n");
  CHECK(retrieve.asks_for_file);
}

TEST_CASE("SIZE is asked once for each name, and tells how many bytes must come", "[loadgen]") {
  CHECK(ftp_get(kLoggedIn + "213 12\r\n" + kPassivePort + kFile).sent.ends_with("<data 12>"));
  CHECK(ftp_get(kLoggedIn + "213 12\r\n" + kPassivePort + "150 x (13 bytes)\r\n226 y\r\n")
            .sent.ends_with("<data 13>"));
  CHECK(failure_of(kLoggedIn + "421 enough\r\n") == base::ErrorCode::kBusy);

  FtpDriver driver(FtpData::kEpsv);
  const std::string said = kLoggedIn + "213 12\r\n" + kPassivePort + kFile;
  tests::outcome_if_cut(driver, kFtpGet, said, said.size());
  const std::string again = kLoggedIn + kPassivePort + kFile;
  CHECK(tests::outcome_if_cut(driver, kFtpGet, again, again.size()).sent.ends_with("<data 12>"));
  driver.begin(kOther);
  CHECK(driver.next("").bytes == "SIZE other\r\n");
}

TEST_CASE("a server that announces sizes is not asked for those of further names", "[loadgen]") {
  FtpDriver driver(FtpData::kEpsv);
  const std::string said = kFtpLogIn + kPassivePort + "150 x (12 bytes)\r\n226 y\r\n";
  tests::outcome_if_cut(driver, kFtpGet, said, said.size());
  driver.begin(kOther);
  CHECK(driver.next("").bytes == "EPSV\r\n");
}

TEST_CASE("an FTP put sends its file on the data connection", "[loadgen]") {
  const Outcome sent = put(kLoggedIn + kPassivePort + kFile);
  CHECK_FALSE(sent.failure);
  CHECK(sent.keeps_connection);
  CHECK(sent.sent == "USER u\r\nPASS p w\r\nTYPE I\r\nEPSV\r\n<port 6446>STOR a b\r\n<send 12>");
  CHECK(put(kLoggedIn + kPassivePort + "553 no\r\n").failure == Fault::kProtocol);
  CHECK(put(kLoggedIn + kPassivePort + "550 no\r\n").failure == base::ErrorCode::kNotFound);
  CHECK(put(kLoggedIn + kPassivePort + "150 x\r\n452 full\r\n").failure == Fault::kProtocol);
}

TEST_CASE("QUIT ends a request that has a connection of its own", "[loadgen]") {
  const Outcome ended = outcome(kFtpLogIn + kPassivePort + kFile + "221 bye\r\n", {.quits = true});
  CHECK_FALSE(ended.failure);
  CHECK_FALSE(ended.keeps_connection);
  CHECK(ended.sent.ends_with("<data unknown>QUIT\r\n"));
  CHECK(outcome(kFtpLogIn + kPassivePort + kFile + "500 what?\r\n", {.quits = true}).failure ==
        Fault::kProtocol);
}
