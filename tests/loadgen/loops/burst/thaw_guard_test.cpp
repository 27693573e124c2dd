#include "loadgen/loops/burst/thaw_guard.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <string>

#include "base/stop_signals.h"
#include "tests/catch.h"
#include "tests/temporary_folder.h"

using loadgen::burst::ThawGuard;

namespace {

// A process with a guard, whose order is to append "thawed " to a file.
class Guarded {
 public:
  // `end` is called in the process, where the guard lives until then.
  explicit Guarded(std::function<void()> end) {
    folder_.write("order", "");
    ::prctl(PR_SET_CHILD_SUBREAPER, 1);  // so that the guard can be waited for
    process_ = ::fork();
    if (process_ == 0) run(end);
  }
  ~Guarded() { ::prctl(PR_SET_CHILD_SUBREAPER, 0); }
  Guarded(const Guarded&) = delete;
  Guarded& operator=(const Guarded&) = delete;

  // How the process ended, as waitpid() says, after the guard has ended too.
  int wait() const {
    int status = 0;
    ::waitpid(process_, &status, 0);
    while (::waitpid(-1, nullptr, 0) > 0) continue;
    return status;
  }

  std::string orders() const {
    std::ifstream in(folder_.path("order"));
    return {std::istreambuf_iterator<char>(in), {}};
  }

  pid_t process() const { return process_; }

  // The guard's process id; 0 if it has not started yet.
  pid_t guard() const {
    const std::string process = std::to_string(process_);
    std::ifstream in("/proc/" + process + "/task/" + process + "/children");
    pid_t child = 0;
    in >> child;
    return child;
  }

 private:
  [[noreturn]] void run(const std::function<void()>& end) const {
    ::signal(SIGTERM, SIG_DFL);  // of the test program
    ::signal(SIGABRT, SIG_DFL);
    base::hold_stop_signals();
    {
      const int order = ::open(folder_.path("order").c_str(), O_WRONLY | O_APPEND | O_CLOEXEC);
      const auto guard = ThawGuard::start(order, "thawed ");
      end();
    }
    ::_exit(7);
  }

  const tests::TemporaryFolder folder_;
  pid_t process_ = -1;
};

void sleep_until_killed() {
  for (;;) ::pause();
}

// The name of the process, which it gets last of all that it prepares.
bool is_ready(pid_t guard) {
  std::ifstream in("/proc/" + std::to_string(guard) + "/comm");
  std::string name;
  return (in >> name) && name == "thaw-guard";
}

pid_t ready_guard_of(const Guarded& guarded) {
  const auto latest = std::chrono::steady_clock::now() + std::chrono::seconds(60);
  while (std::chrono::steady_clock::now() < latest) {
    if (const pid_t guard = guarded.guard(); guard != 0 && is_ready(guard)) return guard;
    ::usleep(1000);
  }
  return 0;
}

}  // namespace

TEST_CASE("a group is thawed when the process is killed or crashes", "[loadgen]") {
  for (const int signal : {SIGKILL, SIGABRT, SIGSEGV}) {
    const Guarded guarded([signal] {
      ::signal(signal, SIG_DFL);
      ::raise(signal);
    });
    CHECK(WTERMSIG(guarded.wait()) == signal);
    CHECK(guarded.orders() == "thawed ");
  }
}

TEST_CASE("a second stop signal thaws before the process ends", "[loadgen]") {
  const Guarded guarded([] {
    base::release_stop_signals();
    ::raise(SIGTERM);
  });
  CHECK(WTERMSIG(guarded.wait()) == SIGTERM);
  CHECK(guarded.orders() == "thawed thawed ");  // by the process, and by the guard
}

TEST_CASE("the guard ends with its owner and is no zombie", "[loadgen]") {
  const Guarded guarded([] {});
  int status = 0;
  REQUIRE(::waitpid(guarded.process(), &status, 0) == guarded.process());
  CHECK(WEXITSTATUS(status) == 7);
  CHECK(guarded.orders() == "thawed ");
  CHECK(::waitpid(-1, nullptr, WNOHANG) == -1);  // nobody is left
}

TEST_CASE("the guard has a session of its own and nothing else open", "[loadgen]") {
  const Guarded guarded(sleep_until_killed);
  const pid_t guard = ready_guard_of(guarded);
  REQUIRE(guard != 0);
  CHECK(::getsid(guard) == guard);
  const std::filesystem::directory_iterator open("/proc/" + std::to_string(guard) + "/fd");
  CHECK(std::distance(open, {}) == 2);
  for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGTSTP}) ::kill(guard, signal);
  CHECK(guarded.orders().empty());
  ::kill(guarded.process(), SIGKILL);
  guarded.wait();
  CHECK(guarded.orders() == "thawed ");
}
