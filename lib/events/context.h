// A flow of calls with a stack of its own, which a thread can leave in the middle and come back to.
#pragma once

#include <boost/context/fiber.hpp>
#include <cstddef>

namespace events {

// It runs its body again and again, each time it is resumed after the body has ended. Exceptions
// that are being handled belong to the context, so it may leave anywhere. Sanitizers and valgrind
// know its stack.
//
// One thread for its whole life: compilers keep the addresses of a thread's variables.
class Context {
 public:
  // A guard page lies below it, so an overflow ends the process and overwrites nothing. The deepest
  // calls of a request take 11 KiB. Memory that was never used takes no room.
#if defined(TURNSTILE_SANITIZE_ADDRESS) || defined(TURNSTILE_SANITIZE_THREAD)
  static constexpr std::size_t kStackBytes = 256 * 1024;
#else
  static constexpr std::size_t kStackBytes = 64 * 1024;
#endif

  // Throws std::bad_alloc.
  Context();

  // Requires: the body is not in the middle.
  virtual ~Context();
  Context(const Context&) = delete;
  Context& operator=(const Context&) = delete;

  // Goes on in the context until it leaves or its body ends.
  void resume();

  // Whether the next resume() begins the body anew.
  bool is_at_start() const { return is_at_start_; }

 protected:
  // Must not throw.
  virtual void body() = 0;

  // Called in the context: goes back to who resumed it.
  void leave();

 private:
  class StackOf;
  boost::context::fiber run(boost::context::fiber&& resumer);
  void enter_resumer();

  void* stack_bottom_ = nullptr;
  std::size_t stack_bytes_ = 0;  // with the guard page
  bool is_at_start_ = true;
  bool is_last_ = false;
  boost::context::fiber own_;
  boost::context::fiber resumer_;

  // What the sanitizers want to know of both sides.
#if defined(TURNSTILE_SANITIZE_ADDRESS)
  void* own_fake_stack_ = nullptr;
  void* resumer_fake_stack_ = nullptr;
  const void* resumer_bottom_ = nullptr;
  std::size_t resumer_bytes_ = 0;
#endif
#if defined(TURNSTILE_SANITIZE_THREAD)
  void* own_thread_ = nullptr;
  void* resumer_thread_ = nullptr;
#endif
};

}  // namespace events
