#include <linux/io_uring.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <utility>

#include "loadgen/clients/engines/engines.h"
#include "net/fd.h"

namespace loadgen {

namespace {

// Memory that is shared with the system, unmapped at the end.
class Mapping {
 public:
  Mapping() = default;
  Mapping(int fd, std::size_t size, std::int64_t offset)
      : at_(::mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, fd, offset)),
        size_(size) {}
  Mapping(Mapping&& other) noexcept
      : at_(std::exchange(other.at_, MAP_FAILED)), size_(other.size_) {}
  Mapping& operator=(Mapping&& other) noexcept {
    std::swap(at_, other.at_);
    std::swap(size_, other.size_);
    return *this;
  }
  ~Mapping() {
    if (is_open()) ::munmap(at_, size_);
  }

  bool is_open() const { return at_ != MAP_FAILED; }

  template <typename T>
  T* at(std::uint32_t offset) const {
    return reinterpret_cast<T*>(static_cast<char*>(at_) + offset);
  }

 private:
  void* at_ = MAP_FAILED;
  std::size_t size_ = 0;
};

// The two queues of a ring. `head` is moved by the reader and `tail` by the writer; what is between
// them is written before the tail is. Without liburing, since only one operation is needed.
struct Ring {
  net::Fd fd;
  io_uring_params params{};
  Mapping queues;
  Mapping entries;

  std::uint32_t load(std::uint32_t offset) const {
    return std::atomic_ref(*queues.at<std::uint32_t>(offset)).load(std::memory_order_acquire);
  }
  void store(std::uint32_t offset, std::uint32_t value) const {
    std::atomic_ref(*queues.at<std::uint32_t>(offset)).store(value, std::memory_order_release);
  }
};

// One poll operation for each armed user. They are handed to the system together with the next
// wait, so arming costs no system call.
class IoUringEngine : public Engine {
 public:
  IoUringEngine(Ring ring, std::uint32_t users) : ring_(std::move(ring)), fds_(users, -1) {}

  base::Status watch(std::uint32_t user, int fd) override {
    fds_[user] = fd;
    return base::kDone;
  }

  base::Status arm(std::uint32_t user, short events) override {
    const io_sqring_offsets& at = ring_.params.sq_off;
    const std::uint32_t tail = ring_.load(at.tail);
    const std::uint32_t slot = tail & (ring_.params.sq_entries - 1);
    auto* const entry = ring_.entries.at<io_uring_sqe>(slot * sizeof(io_uring_sqe));
    *entry = {};
    entry->opcode = IORING_OP_POLL_ADD;
    entry->fd = fds_[user];
    entry->poll32_events = static_cast<std::uint32_t>(events);
    entry->user_data = user;
    ring_.queues.at<std::uint32_t>(at.array)[slot] = slot;
    ring_.store(at.tail, tail + 1);
    if (++unsubmitted_ < ring_.params.sq_entries) return base::kDone;
    if (auto entered = enter(0, 0); !entered) return entered;
    return unsubmitted_ == 0 ? base::Status(base::kDone) : engine_error("io_uring_enter");
  }

  // An operation holds its socket open. Shutting it down ends the operation.
  void forget(std::uint32_t user) override {
    ::shutdown(fds_[user], SHUT_RDWR);
    fds_[user] = -1;
  }

  base::Status wait(std::int64_t at_most_ns, std::vector<std::uint32_t>& ready) override {
    const io_cqring_offsets& at = ring_.params.cq_off;
    const bool has_some = ring_.load(at.head) != ring_.load(at.tail);
    if (auto entered = enter(has_some ? 0 : 1, at_most_ns); !entered) return entered;
    std::uint32_t head = ring_.load(at.head);
    const std::uint32_t tail = ring_.load(at.tail);
    for (; head != tail; ++head) {
      const std::uint32_t slot = head & (ring_.params.cq_entries - 1);
      const auto user =
          static_cast<std::uint32_t>(ring_.queues.at<io_uring_cqe>(at.cqes)[slot].user_data);
      if (fds_[user] >= 0) ready.push_back(user);
    }
    ring_.store(at.head, head);
    return base::kDone;
  }

 private:
  base::Status enter(unsigned at_least, std::int64_t at_most_ns) {
    __kernel_timespec limit{at_most_ns / base::kNsPerS, at_most_ns % base::kNsPerS};
    io_uring_getevents_arg argument{};
    argument.ts = reinterpret_cast<std::uintptr_t>(&limit);
    const long submitted =
        ::syscall(SYS_io_uring_enter, ring_.fd.get(), unsubmitted_, at_least,
                  IORING_ENTER_GETEVENTS | IORING_ENTER_EXT_ARG, &argument, sizeof argument);
    if (submitted >= 0) {
      unsubmitted_ -= static_cast<std::uint32_t>(submitted);
    } else if (errno != ETIME && errno != EINTR && errno != EBUSY) {
      return engine_error("io_uring_enter");
    }
    return base::kDone;
  }

  const Ring ring_;
  std::vector<int> fds_;
  std::uint32_t unsubmitted_ = 0;
};

}  // namespace

OpenedEngine open_io_uring_engine(std::uint32_t users) {
  constexpr std::uint32_t kEntries = 1024;
  Ring ring;
  // Completions that do not fit into their queue are kept by the system (IORING_FEAT_NODROP).
  ring.fd = net::Fd(static_cast<int>(::syscall(SYS_io_uring_setup, kEntries, &ring.params)));
  if (!ring.fd.is_open()) return engine_error("the system refuses --engine io_uring");
  constexpr std::uint32_t kNeeded = IORING_FEAT_SINGLE_MMAP | IORING_FEAT_EXT_ARG;
  if ((ring.params.features & kNeeded) != kNeeded) {
    errno = ENOSYS;
    return engine_error("--engine io_uring needs Linux 5.11");
  }
  const std::size_t submissions =
      ring.params.sq_off.array + ring.params.sq_entries * sizeof(std::uint32_t);
  const std::size_t completions =
      ring.params.cq_off.cqes + ring.params.cq_entries * sizeof(io_uring_cqe);
  ring.queues = Mapping(ring.fd.get(), std::max(submissions, completions), IORING_OFF_SQ_RING);
  ring.entries =
      Mapping(ring.fd.get(), ring.params.sq_entries * sizeof(io_uring_sqe), IORING_OFF_SQES);
  if (!ring.queues.is_open() || !ring.entries.is_open()) return engine_error("mmap of io_uring");
  return std::unique_ptr<Engine>(std::make_unique<IoUringEngine>(std::move(ring), users));
}

}  // namespace loadgen
