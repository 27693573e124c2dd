#include "base/line_writer.h"

#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include <array>
#include <string>

#include "net/fd.h"
#include "tests/catch.h"

namespace {

struct Pipe {
  Pipe() {
    std::array<int, 2> ends{};
    REQUIRE(::pipe2(ends.data(), O_CLOEXEC) == 0);
    reader = net::Fd(ends[0]);
    writer = net::Fd(ends[1]);
  }

  // All that is in it.
  std::string read() const {
    std::string bytes(std::size_t{1} << 20, '\0');
    const ssize_t got = ::read(reader.get(), bytes.data(), bytes.size());
    bytes.resize(got > 0 ? static_cast<std::size_t>(got) : 0);
    return bytes;
  }

  net::Fd reader;
  net::Fd writer;
};

const std::string kLine = std::string(99, 'x') + "\n";

}  // namespace

TEST_CASE("lines that nobody reads are lost, and counted when there is room again", "[base]") {
  const Pipe pipe;
  base::LineWriter writer(pipe.writer.get());
  int written = 0;
  while (writer.write(kLine)) ++written;
  CHECK(written > 0);
  CHECK_FALSE(writer.write(kLine));
  CHECK_FALSE(writer.write(kLine));
  CHECK(writer.lost() == 3);
  CHECK(pipe.read().size() == static_cast<std::size_t>(written) * kLine.size());
  CHECK(writer.write(kLine));
  const std::string read = pipe.read();
  CHECK(read.substr(0, 8) == "3 lines ");
  CHECK(read.substr(read.find('\n') + 1) == kLine);
  CHECK(writer.lost() == 0);
}

TEST_CASE("lines for a pipe without a reader are lost", "[base]") {
  ::signal(SIGPIPE, SIG_IGN);
  Pipe pipe;
  pipe.reader = {};
  base::LineWriter writer(pipe.writer.get());
  CHECK_FALSE(writer.write(kLine));
}
