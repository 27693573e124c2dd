// Random content of the file that --config names. A line that is no known flag must be refused, and
// what is accepted must be in its bounds and as the file says.
#include <sys/mman.h>
#include <unistd.h>

#include <iostream>
#include <optional>
#include <sstream>
#include <string>

#include "flags/parse.h"
#include "flags/values.h"
#include "tests/fuzz/require.h"

namespace {

using fuzz::require;

struct Values {
  int count = 1;
  std::int64_t wait_ms = 2000;
  std::int64_t size_bytes = 1;
  net::HostPort address{"127.0.0.1", 1};
  bool is_loud = false;
  std::string text = "default";
};

std::string trimmed(const std::string& text) {
  const std::size_t first = text.find_first_not_of(" \t\r");
  if (first == std::string::npos) return "";
  return text.substr(first, text.find_last_not_of(" \t\r") - first + 1);
}

// What the file says of --text. Nothing if a line is wrong, whatever its value.
std::optional<std::string> text_in(const std::string& content) {
  std::string text = Values().text;
  std::istringstream lines(content);
  for (std::string line; std::getline(lines, line);) {
    line = trimmed(line);
    if (line.empty() || line.front() == '#') continue;
    const std::size_t equals = line.find('=');
    if (equals == std::string::npos) return {};
    const std::string name = trimmed(line.substr(0, equals));
    if (name == "text") {
      text = trimmed(line.substr(equals + 1));
    } else if (name != "count" && name != "wait" && name != "size" && name != "address" &&
               name != "loud") {
      return {};
    }
  }
  return text;
}

// The same file in memory for all inputs.
class File {
 public:
  File() : fd_(::memfd_create("config", 0)) { require(fd_ >= 0); }

  std::string path() const { return "/proc/self/fd/" + std::to_string(fd_); }
  void hold(const std::string& content) const {
    require(::ftruncate(fd_, 0) == 0);
    require(::pwrite(fd_, content.data(), content.size(), 0) ==
            static_cast<ssize_t>(content.size()));
  }

 private:
  const int fd_;
};

std::optional<int> parse(const std::string& path, Values& values) {
  std::string arguments[] = {"fuzzed", "--config", path};
  char* argv[] = {arguments[0].data(), arguments[1].data(), arguments[2].data()};
  return flags::parse(
      {"fuzzed", "A sample."}, 3, argv,
      [&](flags::App& app) {
        flags::add_whole(app, "--count", values.count, 1, 100, "how many");
        flags::add_seconds(app, "--wait", values.wait_ms, "how long", 1);
        flags::add_size(app, "--size", values.size_bytes, "how much");
        flags::add_address(app, "--address", values.address, "where");
        app.add_flag("--loud", values.is_loud, "a switch");
        app.add_option("--text", values.text, "a text");
      },
      [](flags::App&) -> std::optional<std::string> { return {}; });
}

}  // namespace

extern "C" int LLVMFuzzerInitialize(int*, char***) {
  std::cerr.rdbuf(nullptr);  // what is wrong with each input
  return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data, std::size_t size) {
  static const File file;
  const std::string content(fuzz::text_of(data, size));
  file.hold(content);
  Values values;
  const auto exit_status = parse(file.path(), values);
  const auto text = text_in(content);
  require(!exit_status || *exit_status == flags::kWrongUsage);
  if (!text) require(exit_status.has_value());
  if (exit_status) return 0;
  require(values.text == *text);
  require(values.count >= 1 && values.count <= 100 && values.wait_ms >= 1);
  require(values.size_bytes >= 0 && !values.address.host.empty());
  return 0;
}
