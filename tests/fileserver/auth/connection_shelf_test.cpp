#include "fileserver/auth/connection_shelf.h"

#include <fcntl.h>

#include <thread>
#include <vector>

#include "tests/catch.h"

using fileserver::ConnectionShelf;

namespace {

net::Fd any_fd() { return net::Fd(::open("/dev/null", O_RDONLY | O_CLOEXEC)); }

}  // namespace

TEST_CASE("taking from an empty shelf gives no connection", "[fileserver]") {
  ConnectionShelf shelf;
  CHECK_FALSE(shelf.take().is_open());
}

TEST_CASE("a connection that was put on the shelf is taken once", "[fileserver]") {
  ConnectionShelf shelf;
  net::Fd fd = any_fd();
  const int raw = fd.get();
  shelf.put(std::move(fd));
  CHECK(shelf.take().get() == raw);
  CHECK_FALSE(shelf.take().is_open());
}

TEST_CASE("a full shelf closes the connection that is put on it", "[fileserver]") {
  ConnectionShelf shelf;
  int last = -1;
  for (int i = 0; i < 129; ++i) {
    net::Fd fd = any_fd();
    last = fd.get();
    shelf.put(std::move(fd));
  }
  CHECK(::fcntl(last, F_GETFD) == -1);
}

TEST_CASE("clearing the shelf closes its connections", "[fileserver]") {
  ConnectionShelf shelf;
  net::Fd fd = any_fd();
  const int raw = fd.get();
  shelf.put(std::move(fd));
  shelf.clear();
  CHECK(::fcntl(raw, F_GETFD) == -1);
  CHECK_FALSE(shelf.take().is_open());
}

TEST_CASE("no two takers ever hold the same connection", "[fileserver]") {
  ConnectionShelf shelf;
  std::vector<std::atomic<int>> holders(4096);
  std::atomic<int> collisions = 0;
  for (int i = 0; i < 4; ++i) shelf.put(any_fd());
  std::vector<std::thread> threads;
  for (int t = 0; t < 8; ++t) {
    threads.emplace_back([&] {
      for (int i = 0; i < 5000; ++i) {
        tls::Socket fd = shelf.take();
        if (!fd.is_open()) continue;
        auto& holder = holders.at(static_cast<std::size_t>(fd.get()));
        if (holder.exchange(1) != 0) ++collisions;
        holder = 0;
        shelf.put(std::move(fd));
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  CHECK(collisions == 0);
}
