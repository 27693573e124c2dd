#include "events/context.h"

#include <signal.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstring>
#include <exception>
#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "tests/catch.h"

namespace {

class Talk : public events::Context {
 public:
  explicit Talk(std::function<void(Talk&)> words) : words_(std::move(words)) {}
  void pause() { leave(); }

 private:
  void body() override { words_(*this); }
  std::function<void(Talk&)> words_;
};

// Catches an exception of this name, lets others go on in the handler, and says what it handles
// then.
Talk handler_of(const std::string& name, std::string& handled) {
  return Talk([name, &handled](Talk& talk) {
    try {
      throw std::runtime_error(name);
    } catch (const std::exception&) {
      talk.pause();
      try {
        std::rethrow_exception(std::current_exception());
      } catch (const std::exception& mine) {
        handled = mine.what();
      }
    }
  });
}

}  // namespace

TEST_CASE("a context goes on where it left", "[events]") {
  std::string said;
  Talk talk([&](Talk& self) {
    for (const char word : {'a', 'b'}) {
      said += word;
      self.pause();
    }
  });
  CHECK(talk.is_at_start());
  talk.resume();
  said += '-';
  CHECK_FALSE(talk.is_at_start());
  talk.resume();
  talk.resume();
  CHECK(talk.is_at_start());
  CHECK(said == "a-b");
}

TEST_CASE("a context whose body has ended begins anew", "[events]") {
  int begun = 0;
  Talk talk([&](Talk&) { ++begun; });
  for (int i = 0; i < 3; ++i) talk.resume();
  CHECK(begun == 3);
}

TEST_CASE("contexts that wait in a handler keep their own exceptions", "[events]") {
  std::string by_a, by_b;
  Talk a = handler_of("A", by_a), b = handler_of("B", by_b);
  a.resume();
  b.resume();
  CHECK(std::current_exception() == nullptr);
  a.resume();
  b.resume();
  CHECK(by_a == "A");
  CHECK(by_b == "B");
}

TEST_CASE("a context may leave while the stack is unwound", "[events]") {
  struct Pauses {
    Talk& talk;
    ~Pauses() { talk.pause(); }
  };
  bool is_caught = false;
  Talk talk([&](Talk& self) {
    try {
      const Pauses pauses{self};
      throw std::runtime_error("unwound");
    } catch (const std::exception&) {
      is_caught = true;
    }
  });
  talk.resume();
  CHECK(std::uncaught_exceptions() == 0);
  talk.resume();
  CHECK(is_caught);
}

// AddressSanitizer would find the marks of frames in it.
TEST_CASE("memory that was a stack may be used for anything", "[events]") {
  constexpr int kContexts = 20;
  std::vector<std::unique_ptr<Talk>> talks;
  for (int i = 0; i < kContexts; ++i) {
    talks.push_back(std::make_unique<Talk>([](Talk&) {}));
    talks.back()->resume();
  }
  talks.clear();
  constexpr std::size_t kBytes = kContexts * Talk::kStackBytes;
  void* const memory =
      ::mmap(nullptr, kBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  REQUIRE(memory != MAP_FAILED);
  std::memset(memory, 1, kBytes);
  CHECK(static_cast<char*>(memory)[kBytes - 1] == 1);
  ::munmap(memory, kBytes);
}

#if !defined(TURNSTILE_SANITIZE_ADDRESS) && !defined(TURNSTILE_SANITIZE_THREAD)
namespace {

// Calls itself until the stack is full.
int depth_of(int depth) {
  if (depth < 0) return 0;
  std::array<char, 1024> frame{};
  volatile char* const kept = frame.data();
  *kept = static_cast<char>(depth);
  return depth_of(depth + 1) + *kept;
}

}  // namespace

TEST_CASE("an overflow of a stack ends the process", "[events]") {
  const pid_t child = ::fork();
  if (child == 0) {
    const rlimit no_core{0, 0};
    ::setrlimit(RLIMIT_CORE, &no_core);
    ::signal(SIGSEGV, SIG_DFL);
    Talk other([](Talk& self) { self.pause(); });
    Talk talk([&](Talk&) { ::_exit(depth_of(1) == 0 ? 0 : 1); });
    other.resume();
    talk.resume();
    ::_exit(0);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  CHECK(WIFSIGNALED(status));
  CHECK(WTERMSIG(status) == SIGSEGV);
}
#endif
