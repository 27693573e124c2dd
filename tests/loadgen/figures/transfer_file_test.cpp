#include "loadgen/figures/transfer_file.h"

#include <fstream>
#include <sstream>
#include <string>

#include "base/clock.h"
#include "tests/catch.h"
#include "tests/temporary_folder.h"

using base::kNsPerMs;
using base::kNsPerS;
using loadgen::csv_field;
using loadgen::Exchange;
using loadgen::TransferFile;
using loadgen::TransferLines;

namespace {

constexpr std::int64_t kRoundStartNs = 7 * kNsPerS;
const std::string kHeader =
    "round,thread,name,bytes,start_unix_s,started_s,asked_s,opened_s,first_byte_s,last_byte_s,"
    "failure,sent_s,cpu_us\n";

std::string content(const std::string& path) {
  std::ostringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}

std::int64_t at(std::int64_t ms) { return kRoundStartNs + ms * kNsPerMs; }

// A transfer of 5 bytes from 10 ms to 15 ms.
Exchange five_ms() {
  Exchange exchange;
  exchange.started_ns = at(10);
  exchange.connected_ns = at(11);
  exchange.asked_ns = at(12);
  exchange.first_byte_ns = at(13);
  exchange.file_end_ns = at(14);
  exchange.ended_ns = at(15);
  exchange.moved_bytes = 5;
  return exchange;
}

}  // namespace

TEST_CASE("a transfer is a line with its moments since the start", "[loadgen]") {
  const tests::TemporaryFolder folder;
  const std::string path = folder.path("transfers.csv");
  const auto file = TransferFile::open(path);
  REQUIRE(file);
  (*file)->begin(kRoundStartNs, 1'700'000'000.25);
  TransferLines lines(file->get(), 3);
  CHECK(lines.add("a", five_ms()));
  Exchange ftp = five_ms();
  ftp.data_connected_ns = at(12) - 1000;
  CHECK(lines.add("b,\"c\"", ftp));
  Exchange put = five_ms();
  put.sent_ns = at(13) - 1000;
  put.cpu_ns = 1'234'567;
  CHECK(lines.add("e", put));
  Exchange failed = five_ms();
  failed.failure = loadgen::Fault::kTimeout;
  failed.connected_ns = failed.asked_ns = failed.file_end_ns = 0;
  failed.moved_bytes = 0;
  CHECK(lines.add("d", failed));
  CHECK(lines.flush());
  REQUIRE((*file)->finish());
  CHECK(content(path) ==
        kHeader +
            "1,3,a,5,1700000000.250000,0.010000,0.012000,0.011000,0.013000,0.014000,,,\n"
            "2,3,\"b,\"\"c\"\"\",5,1700000000.250000,0.010000,0.012000,0.011999,0.013000,0.014000,"
            ",,\n"
            "3,3,e,5,1700000000.250000,0.010000,0.012000,0.011000,0.013000,0.014000,,0.012999,"
            "1234.567\n"
            "4,3,d,0,1700000000.250000,0.010000,,,,0.015000,timeout,,\n");
}

TEST_CASE("lines are kept only until they fill a buffer", "[loadgen]") {
  const tests::TemporaryFolder folder;
  const std::string path = folder.path("transfers.csv");
  const auto file = TransferFile::open(path);
  (*file)->begin(kRoundStartNs, 1);
  TransferLines lines(file->get(), 0);
  CHECK(lines.add("a", five_ms()));
  CHECK(content(path) == kHeader);
  CHECK(lines.add(std::string(TransferLines::kKeptBytes, 'x'), five_ms()));
  CHECK(content(path).size() > TransferLines::kKeptBytes);
}

TEST_CASE("a record that cannot be written is a failure", "[loadgen]") {
  const auto file = TransferFile::open("/dev/full");
  REQUIRE(file);
  CHECK_FALSE((*file)->begin(kRoundStartNs, 1));
  TransferLines lines(file->get(), 0);
  CHECK(lines.add("a", five_ms()));
  CHECK_FALSE(lines.flush());
  CHECK_FALSE(lines.flush());
  const auto finished = (*file)->finish();
  REQUIRE_FALSE(finished);
  CHECK(finished.error().context.starts_with("--transfers: write /dev/full: "));
}

TEST_CASE("a record that cannot be opened is a failure, and no path is none", "[loadgen]") {
  const tests::TemporaryFolder folder;
  CHECK_FALSE(TransferFile::open(folder.path("missing/transfers.csv")));
  const auto none = TransferFile::open("");
  REQUIRE(none);
  CHECK(*none == nullptr);
  CHECK(TransferLines(nullptr, 0).add("a", five_ms()));
}

TEST_CASE("a field of CSV is quoted if it must be", "[loadgen]") {
  CHECK(csv_field("a b;c'd") == "a b;c'd");
  CHECK(csv_field("").empty());
  CHECK(csv_field("a,b") == "\"a,b\"");
  CHECK(csv_field("a\"b") == "\"a\"\"b\"");
  CHECK(csv_field("a\nb") == "\"a\nb\"");
}
