// The bare shape of the event model, in front of a real authserver: what HTTP costs when nothing is
// parsed, counted or logged.
//
//   event_hop AUTH_PORT FILE_BYTES QUESTION_FILE    the file has the line that is asked
//
// A thread for each core has its connections, and one kept connection to the authserver. All
// questions of a turn leave with one call. Each request is answered with the same file once its own
// question was. A large file is sent from memory without a copy.
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/sendfile.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <deque>
#include <fstream>

#include "sockets.h"

namespace {

constexpr std::size_t kCopiedBelowBytes = 16 * 1024;

struct Client {
  int fd;
  bool closes = false;
  std::size_t received = 0;
  std::size_t sent = 0;  // of head and file
  std::array<char, 1024> request{};
};

class Reply {
 public:
  explicit Reply(std::size_t file_bytes) : file_bytes_(file_bytes) {
    text_ = "HTTP/1.1 200 OK\r\nContent-Length: " + std::to_string(file_bytes) + "\r\n\r\n";
    head_bytes_ = text_.size();
    const std::string bytes(file_bytes, 'x');
    if (file_bytes < kCopiedBelowBytes) text_ += bytes;
    file_ = ::memfd_create("file", MFD_CLOEXEC);
    if (::pwrite(file_, bytes.data(), bytes.size(), 0) != static_cast<ssize_t>(bytes.size()))
      peers::fail("memfd");
  }

  enum class Sent { kAll, kSome, kGone };
  Sent send(Client& client) const {
    while (client.sent < head_bytes_ + file_bytes_) {
      const ssize_t sent = send_some(client);
      if (sent < 0 && errno == EAGAIN) return Sent::kSome;
      if (sent <= 0) return Sent::kGone;
      client.sent += static_cast<std::size_t>(sent);
    }
    client.sent = 0;
    return Sent::kAll;
  }

 private:
  ssize_t send_some(const Client& client) const {
    if (client.sent < text_.size()) {
      const int more = text_.size() < head_bytes_ + file_bytes_ ? MSG_MORE : 0;
      return ::send(client.fd, text_.data() + client.sent, text_.size() - client.sent,
                    MSG_NOSIGNAL | more);
    }
    auto at = static_cast<off_t>(client.sent - head_bytes_);
    return ::sendfile(client.fd, file_, &at, head_bytes_ + file_bytes_ - client.sent);
  }

  const std::size_t file_bytes_;
  std::size_t head_bytes_ = 0;
  std::string text_;  // the head, and a small file
  int file_ = -1;
};

class Loop {
 public:
  Loop(int listener, std::uint16_t auth_port, const std::string& question, const Reply& reply)
      : listener_{listener}, question_(question), reply_(reply) {
    auth_.fd = peers::connect_to(auth_port);
    watch(auth_, EPOLLIN);
    watch(listener_, EPOLLIN | EPOLLEXCLUSIVE);
  }

  [[noreturn]] void run() {
    std::array<epoll_event, 256> events;
    for (;;) {
      const int count = ::epoll_wait(epoll_, events.data(), static_cast<int>(events.size()), -1);
      for (int i = 0; i < count; ++i)
        happened(*static_cast<Client*>(events[static_cast<std::size_t>(i)].data.ptr),
                 events[static_cast<std::size_t>(i)].events);
      if (!questions_.empty() && !peers::send_all(auth_.fd, questions_)) peers::fail("authserver");
      questions_.clear();
      for (Client* const one : gone_) delete one;
      gone_.clear();
    }
  }

 private:
  void watch(Client& one, std::uint32_t events) const {
    epoll_event event{};
    event.events = events;
    event.data.ptr = &one;
    if (::epoll_ctl(epoll_, EPOLL_CTL_ADD, one.fd, &event) != 0) peers::fail("epoll");
  }

  void happened(Client& one, std::uint32_t events) {
    if (&one == &listener_) return accept_all();
    if (&one == &auth_) return take_answers();
    if (one.sent > 0) return answer(one);
    if ((events & ~std::uint32_t{EPOLLOUT}) != 0) take_request(one);
  }

  void accept_all() {
    for (;;) {
      const int fd = ::accept4(listener_.fd, nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK);
      if (fd < 0) return;
      auto* const one = new Client{fd};
      watch(*one, EPOLLIN | EPOLLOUT | EPOLLET);
      take_request(*one);
    }
  }

  void take_request(Client& one) {
    const ssize_t got = ::recv(one.fd, one.request.data() + one.received,
                               one.request.size() - one.received, MSG_DONTWAIT);
    if (got < 0 && errno == EAGAIN) return;
    if (got <= 0) return end(one);
    one.received += static_cast<std::size_t>(got);
    const std::string_view text(one.request.data(), one.received);
    if (!text.ends_with("\r\n\r\n")) return;
    one.closes = text.find("Connection: close") != std::string_view::npos;
    one.received = 0;
    questions_ += question_;
    asked_.push_back(&one);
  }

  void take_answers() {
    std::array<char, 4096> answers;
    const ssize_t got = ::recv(auth_.fd, answers.data(), answers.size(), MSG_DONTWAIT);
    if (got <= 0) peers::fail("authserver");
    const auto count = std::count(answers.begin(), answers.begin() + got, '\n');
    for (std::ptrdiff_t i = 0; i < count; ++i) {
      Client& one = *asked_.front();
      asked_.pop_front();
      answer(one);
    }
  }

  void answer(Client& one) {
    const auto sent = reply_.send(one);
    if (sent == Reply::Sent::kGone || (sent == Reply::Sent::kAll && one.closes)) end(one);
  }

  // An event of the same turn may still name it.
  void end(Client& one) {
    ::close(one.fd);
    one.fd = -1;
    gone_.push_back(&one);
  }

  const int epoll_ = ::epoll_create1(EPOLL_CLOEXEC);
  Client listener_;
  Client auth_{-1};
  const std::string& question_;
  const Reply& reply_;
  std::string questions_;
  std::deque<Client*> asked_;
  std::vector<Client*> gone_;
};

}  // namespace

int main(int count, char** words) {
  std::string question;
  if (count != 4 || !std::getline(std::ifstream(words[3]), question)) {
    std::fputs("usage: event_hop AUTH_PORT FILE_BYTES QUESTION_FILE\n", stderr);
    return 2;
  }
  question += '\n';
  const Reply reply(std::strtoul(words[2], nullptr, 10));
  const int listener = peers::listen_anywhere(SOCK_NONBLOCK);
  std::vector<std::thread> threads;
  for (unsigned i = 0; i < std::thread::hardware_concurrency(); ++i) {
    threads.emplace_back([&] { Loop(listener, peers::port_of(words[1]), question, reply).run(); });
  }
  for (std::thread& thread : threads) thread.join();
}
