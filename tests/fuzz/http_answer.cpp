// Random bytes as what an HTTP server answers. However they are cut, loadgen must come to the same
// end, and what it takes for a head must be one for a second, simpler reader.
#include <algorithm>
#include <optional>
#include <string>

#include "loadgen/clients/drivers/http.h"
#include "tests/fuzz/require.h"

namespace {

using fuzz::require;
using loadgen::HttpDriver;
using loadgen::RequestKind;
using loadgen::Step;

struct End {
  std::optional<loadgen::Cause> failure;
  bool keeps_connection = false;
  bool is_starving = false;
  std::uint64_t file_bytes = 0;
  std::size_t taken_bytes = 0;

  bool operator==(const End&) const = default;
};

End end_of(RequestKind kind, std::string_view said, std::size_t piece_bytes) {
  HttpDriver driver("h", true);
  driver.begin({.account = {"u", "p"}, .file_name = "f", .size_bytes = 100'000, .kind = kind});
  End end;
  std::size_t here = 0;
  for (int steps = 0;; ++steps) {
    require(steps < 10 + static_cast<int>(said.size()));
    const Step step = driver.next(said.substr(end.taken_bytes, here - end.taken_bytes));
    require(step.taken_bytes <= here - end.taken_bytes);
    end.taken_bytes += step.taken_bytes;
    switch (step.kind) {
      case Step::Kind::kSend:
      case Step::Kind::kUpload: break;
      case Step::Kind::kOpenData:
      case Step::Kind::kData:
      case Step::Kind::kSendData: require(false);
      case Step::Kind::kReceive:
        require(step.taken_bytes == 0);
        end.is_starving = here == said.size();
        if (end.is_starving) return end;
        here = std::min(here + piece_bytes, said.size());
        break;
      case Step::Kind::kFile:
      case Step::Kind::kSkip: {
        here = said.size();
        if (step.kind == Step::Kind::kFile) end.file_bytes = step.size_bytes;
        end.is_starving = here - end.taken_bytes < step.size_bytes;
        if (end.is_starving) return end;
        end.taken_bytes += step.size_bytes;
        break;
      }
      case Step::Kind::kDone:
        end.failure = step.failure;
        end.keeps_connection = step.keeps_connection;
        return end;
    }
  }
}

void check_head(std::string_view said) {
  loadgen::HttpAnswer answer;
  if (answer.read(said) != loadgen::HttpAnswer::State::kComplete) return;
  const std::string_view head = said.substr(0, answer.head_bytes());
  require(head.starts_with("HTTP/1.") && head.ends_with("\r\n\r\n"));
  require(head.find("\r\n\r\n") == head.size() - 4 && head.find('\0') == std::string_view::npos);
  require(std::count(head.begin(), head.end(), '\n') == std::count(head.begin(), head.end(), '\r'));
  require(answer.status() >= 100 && answer.status() <= 999);
  require(head.size() <= loadgen::HttpAnswer::kMaxHeadBytes);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view said(reinterpret_cast<const char*>(data), size);
  check_head(said);
  for (const RequestKind kind : {RequestKind::kGet, RequestKind::kPut, RequestKind::kNew}) {
    const End whole = end_of(kind, said, size + 1);
    for (const std::size_t piece_bytes : {std::size_t{1}, std::size_t{7}})
      require(end_of(kind, said, piece_bytes) == whole);
  }
  return 0;
}
