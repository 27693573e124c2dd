// The bare shape of loadgen --protocol ftp: the same calls, with nothing checked, counted or timed.
//
//   FTP_PASSWORD=… ftp_bare PORT USER NAME COUNT THREADS
//
// Each thread logs in once to a server on 127.0.0.1, and then fetches the file COUNT times. Prints
// the files a second and the CPU time of each file in microseconds.
#include <sys/resource.h>

#include <algorithm>
#include <chrono>
#include <cstring>

#include "sockets.h"

namespace {

struct Fetch {
  std::string user;
  std::string password;
  std::string name;
  int count = 0;
};

// Returns the last line. Requires: the server sends no more than one reply at a time.
const std::string& reply_of(int fd, std::string_view command, std::string& reply) {
  if (!peers::send_all(fd, command)) peers::fail("send");
  if (!peers::read_until(fd, "\r\n", reply)) peers::fail("the control connection");
  return reply;
}

// Of "229 Extended Passive (|||1234|)".
std::uint16_t port_in(const std::string& reply) {
  const auto at = reply.find("|||");
  if (at == std::string::npos) peers::fail("EPSV");
  return peers::port_of(reply.c_str() + at + 3);
}

// 226 may come together with 150, or after it.
void fetch(int control, const std::string& request, std::string& reply) {
  const int data = peers::connect_to(port_in(reply_of(control, "EPSV\r\n", reply)));
  reply_of(control, request, reply);
  if (!reply.starts_with("150")) peers::fail(reply.c_str());
  static thread_local char buffer[256 * 1024];
  while (::recv(data, buffer, sizeof buffer, MSG_TRUNC) > 0) {
  }
  ::close(data);
  if (reply.find("\r\n226") == std::string::npos) reply_of(control, "", reply);
}

void run(std::uint16_t port, const Fetch& what) {
  std::string reply;
  const int control = peers::connect_to(port);
  do {
    if (!peers::read_until(control, "\r\n", reply)) peers::fail("the greeting");
  } while (reply.rfind("220 ") == std::string::npos);
  reply_of(control, "USER " + what.user + "\r\n", reply);
  reply_of(control, "PASS " + what.password + "\r\n", reply);
  if (!reply.starts_with("230")) peers::fail("log-in");
  reply_of(control, "TYPE I\r\n", reply);
  const std::string request = "RETR " + what.name + "\r\n";
  for (int i = 0; i < what.count; ++i) fetch(control, request, reply);
}

double cpu_us() {
  rusage used{};
  ::getrusage(RUSAGE_SELF, &used);
  const auto us = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) * 1e6 + static_cast<double>(time.tv_usec);
  };
  return us(used.ru_utime) + us(used.ru_stime);
}

}  // namespace

int main(int count, char** words) {
  const char* const password = std::getenv("FTP_PASSWORD");
  if (count != 6 || password == nullptr) {
    std::fputs("usage: FTP_PASSWORD=... ftp_bare PORT USER NAME COUNT THREADS\n", stderr);
    return 2;
  }
  const Fetch what{words[2], password, words[3], std::atoi(words[4])};
  const int thread_count = std::atoi(words[5]);
  const auto start = std::chrono::steady_clock::now();
  std::vector<std::thread> threads;
  threads.reserve(static_cast<std::size_t>(std::max(thread_count, 0)));
  for (int i = 0; i < thread_count; ++i)
    threads.emplace_back([&] { run(peers::port_of(words[1]), what); });
  for (std::thread& thread : threads) thread.join();
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
  const double files = static_cast<double>(what.count) * thread_count;
  std::printf("%.0f files/s, %.2f us of CPU each\n", files / took.count(), cpu_us() / files);
}
