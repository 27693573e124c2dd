#include "events/context.h"

#include <cxxabi.h>
#include <sys/mman.h>
#include <unistd.h>

#include <boost/context/stack_context.hpp>
#include <cstring>
#include <new>
#include <utility>

#if __has_include(<valgrind/valgrind.h>)
#include <valgrind/valgrind.h>
#endif
#if defined(TURNSTILE_SANITIZE_ADDRESS)
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>
#endif
#if defined(TURNSTILE_SANITIZE_THREAD)
#include <sanitizer/tsan_interface.h>
#endif

namespace events {

namespace {

// The exceptions that a thread handles, as the ABI lays them out.
struct Exceptions {
  void* caught = nullptr;
  unsigned int uncaught = 0;
};

Exceptions exchange_exceptions(const Exceptions& ours) {
  void* const thread = abi::__cxa_get_globals();
  Exceptions theirs;
  std::memcpy(&theirs, thread, sizeof theirs);
  std::memcpy(thread, &ours, sizeof ours);
  return theirs;
}

}  // namespace

// Gives the stack, and notes where it lies.
class Context::StackOf {
 public:
  explicit StackOf(Context& context) : context_(&context) {}

  boost::context::stack_context allocate() {
    const auto guard_bytes = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
    boost::context::stack_context stack;
    stack.size = kStackBytes + guard_bytes;
    void* const bottom =
        ::mmap(nullptr, stack.size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK, -1, 0);
    if (bottom == MAP_FAILED) throw std::bad_alloc();
    char* const lowest = static_cast<char*>(bottom) + guard_bytes;
    if (::mprotect(lowest, kStackBytes, PROT_READ | PROT_WRITE) != 0) {
      ::munmap(bottom, stack.size);
      throw std::bad_alloc();
    }
    stack.sp = lowest + kStackBytes;
    context_->stack_bottom_ = bottom;
    context_->stack_bytes_ = stack.size;
#if defined(VALGRIND_STACK_REGISTER)
    valgrind_id_ = VALGRIND_STACK_REGISTER(bottom, stack.sp);
#endif
    return stack;
  }
  void deallocate(boost::context::stack_context& stack) noexcept {
#if defined(VALGRIND_STACK_REGISTER)
    VALGRIND_STACK_DEREGISTER(valgrind_id_);
#endif
    char* const bottom = static_cast<char*>(stack.sp) - stack.size;
#if defined(TURNSTILE_SANITIZE_ADDRESS)
    // The lowest frames never return, so their marks would stay for who gets this memory next.
    ::__asan_unpoison_memory_region(bottom, stack.size);
#endif
    ::munmap(bottom, stack.size);
  }

 private:
  Context* context_;
  unsigned valgrind_id_ = 0;
};

Context::Context()
    : own_(std::allocator_arg, StackOf(*this),
           [this](boost::context::fiber&& resumer) { return run(std::move(resumer)); }) {
#if defined(TURNSTILE_SANITIZE_THREAD)
  own_thread_ = ::__tsan_create_fiber(0);
#endif
}

Context::~Context() {
  is_last_ = true;
  resume();
#if defined(TURNSTILE_SANITIZE_THREAD)
  ::__tsan_destroy_fiber(own_thread_);
#endif
}

void Context::resume() {
#if defined(TURNSTILE_SANITIZE_ADDRESS)
  ::__sanitizer_start_switch_fiber(&resumer_fake_stack_, stack_bottom_, stack_bytes_);
#endif
#if defined(TURNSTILE_SANITIZE_THREAD)
  resumer_thread_ = ::__tsan_get_current_fiber();
  ::__tsan_switch_to_fiber(own_thread_, 0);
#endif
  own_ = std::move(own_).resume();
#if defined(TURNSTILE_SANITIZE_ADDRESS)
  ::__sanitizer_finish_switch_fiber(resumer_fake_stack_, nullptr, nullptr);
#endif
#if defined(TURNSTILE_SANITIZE_THREAD)
  // Not by run(), whose calls would then end among those of the resumer.
  if (is_last_) ::__tsan_switch_to_fiber(resumer_thread_, 0);
#endif
}

boost::context::fiber Context::run(boost::context::fiber&& resumer) {
#if defined(TURNSTILE_SANITIZE_ADDRESS)
  ::__sanitizer_finish_switch_fiber(nullptr, &resumer_bottom_, &resumer_bytes_);
#endif
  resumer_ = std::move(resumer);
  while (!is_last_) {
    is_at_start_ = false;
    body();
    is_at_start_ = true;
    leave();
  }
#if defined(TURNSTILE_SANITIZE_ADDRESS)
  ::__sanitizer_start_switch_fiber(nullptr, resumer_bottom_, resumer_bytes_);
#endif
  return std::move(resumer_);
}

void Context::leave() {
  const Exceptions own = exchange_exceptions({});
  enter_resumer();
  exchange_exceptions(own);
}

void Context::enter_resumer() {
#if defined(TURNSTILE_SANITIZE_ADDRESS)
  ::__sanitizer_start_switch_fiber(&own_fake_stack_, resumer_bottom_, resumer_bytes_);
#endif
#if defined(TURNSTILE_SANITIZE_THREAD)
  ::__tsan_switch_to_fiber(resumer_thread_, 0);
#endif
  resumer_ = std::move(resumer_).resume();
#if defined(TURNSTILE_SANITIZE_ADDRESS)
  ::__sanitizer_finish_switch_fiber(own_fake_stack_, &resumer_bottom_, &resumer_bytes_);
#endif
}

}  // namespace events
