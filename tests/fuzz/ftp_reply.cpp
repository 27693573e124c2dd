// Random bytes as what an FTP server says. However they are cut, loadgen must come to the same end,
// and soon.
#include <algorithm>
#include <optional>
#include <string>

#include "loadgen/clients/drivers/ftp.h"
#include "tests/fuzz/require.h"

namespace {

using fuzz::require;
using loadgen::FtpDriver;
using loadgen::Step;

struct End {
  std::string sent;
  std::optional<loadgen::Cause> failure;
  bool keeps_connection = false;
  bool is_starving = false;
  std::size_t taken_bytes = 0;

  bool operator==(const End&) const = default;
};

End end_of(loadgen::FtpData data, loadgen::RequestKind kind, std::string_view said,
           std::size_t piece_bytes) {
  const FtpDriver::Ways ways{.quits = data == loadgen::FtpData::kEpsv};
  FtpDriver driver(data, ways);
  driver.begin_connection();
  const loadgen::Request request{.account = {"u", "p"}, .file_name = "f", .kind = kind};
  driver.begin(request);
  End end;
  std::size_t here = 0;
  for (int steps = 0;; ++steps) {
    require(steps < 10 + 2 * static_cast<int>(said.size()));
    const Step step = driver.next(said.substr(end.taken_bytes, here - end.taken_bytes));
    require(step.taken_bytes <= here - end.taken_bytes);
    end.taken_bytes += step.taken_bytes;
    if (step.kind == Step::Kind::kDone) {
      end.failure = step.failure;
      end.keeps_connection = step.keeps_connection;
      return end;
    }
    if (step.kind == Step::Kind::kReceive) {
      require(step.taken_bytes == 0);
      end.is_starving = here == said.size();
      if (end.is_starving) return end;
      here = std::min(here + piece_bytes, said.size());
    } else if (step.kind == Step::Kind::kSend) {
      end.sent += step.bytes;
    } else if (step.kind == Step::Kind::kOpenData) {
      require(step.data_port != 0);
    } else {
      const bool is_put = kind == loadgen::RequestKind::kPut;
      require(step.kind == (is_put ? Step::Kind::kSendData : Step::Kind::kData));
    }
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  const std::string_view said(reinterpret_cast<const char*>(bytes), size);
  for (const auto data : {loadgen::FtpData::kEpsv, loadgen::FtpData::kPasv}) {
    for (const auto kind : {loadgen::RequestKind::kGet, loadgen::RequestKind::kPut}) {
      const End whole = end_of(data, kind, said, size + 1);
      for (const std::size_t piece_bytes : {std::size_t{1}, std::size_t{7}})
        require(end_of(data, kind, said, piece_bytes) == whole);
    }
  }
  return 0;
}
