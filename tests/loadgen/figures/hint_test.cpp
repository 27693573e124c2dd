#include "loadgen/figures/table.h"

#include "tests/catch.h"

namespace {

using loadgen::Config;
using loadgen::hint_of;
using loadgen::Protocol;
using loadgen::Summary;

Summary failed_with(const std::string& cause, const std::string& text = "") {
  Summary summary;
  summary.errors = {{cause, 3}};
  summary.errors_total = 3;
  if (!text.empty()) summary.first_errors = {{cause, text}};
  return summary;
}

std::string hint(Protocol protocol, const Summary& summary) {
  Config config;
  config.request = loadgen::RequestKind::kGet;
  config.user = "amy";
  config.protocol = protocol;
  return hint_of(config, summary);
}

}  // namespace

TEST_CASE("a port of the other protocol brings the flag that fits", "[loadgen][hint]") {
  const Summary refused = failed_with("protocol", "\"HTTP/1.1 400 Bad Request\"");
  CHECK(hint(Protocol::kNative, refused).find("--protocol http") != std::string::npos);
  CHECK(hint(Protocol::kFtp, refused).find("--protocol http") != std::string::npos);
  CHECK(hint(Protocol::kHttp, refused).find("--http-listen") != std::string::npos);
  CHECK(hint(Protocol::kNative, failed_with("protocol", "\"220 ready\"")).empty());
}

TEST_CASE("a user who is denied each time may have no account", "[loadgen][hint]") {
  CHECK(hint(Protocol::kNative, failed_with("denied")).find("account amy") != std::string::npos);
  Summary mixed = failed_with("denied");
  mixed.errors.emplace_back("timeout", 1);
  CHECK(hint(Protocol::kNative, mixed).empty());
}

TEST_CASE("who cannot connect is asked whether the server runs", "[loadgen][hint]") {
  CHECK(hint(Protocol::kNative, failed_with("connect")).find("running") != std::string::npos);
}

TEST_CASE("who asks for a file that is not there gets its name", "[loadgen][hint]") {
  CHECK(hint(Protocol::kNative, failed_with("not-found")).find("a file \"\"") != std::string::npos);
}

TEST_CASE("a run that was hopeless in its warm-up has a hint too", "[loadgen][hint]") {
  Summary summary;
  summary.hopeless = "denied";
  CHECK(hint(Protocol::kNative, summary).find("account amy") != std::string::npos);
}

TEST_CASE("there is no hint where a request succeeded or nothing was asked", "[loadgen][hint]") {
  Summary some = failed_with("denied");
  some.requests = 1;
  CHECK(hint(Protocol::kNative, some).empty());
  CHECK(hint(Protocol::kNative, Summary()).empty());
}
