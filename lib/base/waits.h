// Where the code of a session waits: for a descriptor, a word in memory, a time, or a disk.
//
// A thread that owns one connection blocks there. A thread that owns many has a Waits: it goes on
// with another connection meanwhile. Who waits calls the functions of net, base/futex.h,
// base/mutex.h and base/clock.h in both cases, and does not know which it is.
#pragma once

#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdint>
#include <memory>
#include <new>
#include <optional>
#include <type_traits>
#include <utility>

namespace base {

// A call without arguments that outlives its use here.
class WorkRef {
 public:
  template <typename Work>
  explicit WorkRef(Work& work)
      : work_(&work), call_([](void* called) { (*static_cast<Work*>(called))(); }) {}
  void operator()() const { call_(work_); }

 private:
  void* work_;
  void (*call_)(void*);
};

// What is remembered of a socket that one task receives from, so that the kernel need not be asked.
struct KnownOfSocket {
  bool is_empty = false;   // all that had come was received, and nothing was reported since
  bool has_ended = false;  // its peer, or at an urgent byte. Then nothing is reported any more
  std::int64_t receive_limit_ms = -1;  // how long a call may sleep; -1: nobody has asked yet
  std::int64_t send_limit_ms = -1;     // the same
};

// One thread. Times are those of base::now_ns(); INT64_MAX is never.
class Waits {
 public:
  // Waits until one of `events`, as poll() names them, happens to `fd`, or until it fails. Returns
  // false when the time has come. It may return true for no reason. Requires: the caller has tried
  // just now, and there was nothing.
  virtual bool wait_for(int fd, short events, std::int64_t until_ns) = 0;

  // Sleeps while has(word, value) is true, until somebody wakes who sleeps on the word. Returns
  // false when the time has come. It may return true for no reason.
  using Has = bool (*)(const void* word, std::uint32_t value);
  virtual bool sleep_on(const void* word, Has has, std::uint32_t value, std::int64_t until_ns) = 0;

  virtual void pause_until(std::int64_t until_ns) = 0;

  // Calls work() in a thread that may block, and waits for its end. What it throws is thrown here.
  // However much there is of kLong, it keeps nothing of kShort waiting. Nor does what hangs.
  enum class Length { kShort, kLong };
  virtual void call_elsewhere(const WorkRef& work, Length length) = 0;

  // The same, but only if such a thread is free, and not one of the last. Otherwise returns false
  // at once, and nothing was called.
  virtual bool call_elsewhere_if_free(const WorkRef& work) = 0;

  // What may take long to be destroyed: a file to be closed, much memory.
  class Remains {
   public:
    Remains() = default;
    virtual ~Remains() = default;
    Remains(const Remains&) = delete;
    Remains& operator=(const Remains&) = delete;
  };

  // Destroys it in a thread that may block. Does not wait for that, unless many others are not
  // destroyed yet.
  virtual void destroy_elsewhere(std::unique_ptr<Remains> remains) = 0;

  // Notes that a caller has done some work, and lets others go on if it was enough for one turn.
  virtual void has_worked(int units) = 0;

  // Null: nothing is known. It stays where it is while the task of the caller goes on. Requires:
  // the time-outs of the socket are not changed any more.
  virtual KnownOfSocket* known_of(int /*fd*/) { return nullptr; }

 protected:
  ~Waits() = default;
};

// That of this thread. Null: the thread blocks itself.
inline thread_local constinit Waits* my_waits = nullptr;

// Whether any thread has a Waits. Set before the first one has.
inline std::atomic<bool> some_have_waits = false;

// Calls work(), which may block: on a disk, or by computing. Returns what it does.
template <typename Work>
auto may_block(Work work, Waits::Length length = Waits::Length::kShort) -> decltype(work()) {
  if (my_waits == nullptr) return work();
  if constexpr (std::is_void_v<decltype(work())>) {
    my_waits->call_elsewhere(WorkRef(work), length);
  } else {
    std::optional<decltype(work())> result;
    auto keep = [&] { result.emplace(work()); };
    my_waits->call_elsewhere(WorkRef(keep), length);
    return std::move(*result);
  }
}

// The same for what waits until a disk has written, or for others that do.
template <typename Work>
auto may_block_long(Work work) -> decltype(work()) {
  return may_block(std::move(work), Waits::Length::kLong);
}

// The same for work that returns false with errno. So does this: errno is one for each thread.
template <typename Work>
bool may_block_with_errno(Work work) {
  const int failure = may_block_long([&] {
    errno = 0;
    if (work()) return 0;
    return errno != 0 ? errno : EIO;
  });
  errno = failure;
  return failure == 0;
}

// Closes a descriptor of a file, which it takes over. A file system in user space or on another
// host may hold up close() for as long as it wants. A thread that owns many connections does not
// wait.
inline void close_file(int fd) {
  struct File final : Waits::Remains {
    explicit File(int to_close) : fd(to_close) {}
    ~File() override { ::close(fd); }
    const int fd;
  };
  if (my_waits == nullptr) {
    ::close(fd);
  } else if (std::unique_ptr<File> file(new (std::nothrow) File(fd)); file != nullptr) {
    my_waits->destroy_elsewhere(std::move(file));
  } else {
    may_block([fd] { ::close(fd); });
  }
}

// To be called between requests, and between pieces of a long reply.
inline void has_worked(int units) {
  if (my_waits != nullptr) my_waits->has_worked(units);
}

}  // namespace base
