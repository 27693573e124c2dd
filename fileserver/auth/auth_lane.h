// Lets several callers ask the authserver together, on one connection.
#pragma once

#include <array>
#include <atomic>
#include <bitset>
#include <cstdint>
#include <functional>
#include <optional>
#include <string_view>
#include <utility>

#include "base/clock.h"
#include "base/mutex.h"
#include "fileserver/auth/auth_exchange.h"
#include "fileserver/auth/connection_shelf.h"
#include "tls/socket.h"
#include "wire/line_buffer.h"
#include "wire/request.h"

namespace fileserver {

// Who finds the lane free leads it: takes a kept connection from the shelf, and sends its question.
// The questions of those who come meanwhile are sent together, once the answers have come. Answers
// come in the order of the questions. A leader reads until it has its own answer. Then it sends the
// next questions, makes the first who has no answer yet the leader, and wakes the others who have
// one. When nobody waits any more, the connection goes back to the shelf. Any number may wait, of
// which 32 are asked for at once. If they asked alone instead, a crowd would cost the authserver a
// connection and the store a question for each.
//
// A lane is only for questions that may be asked twice. It gives up, and closes its connection, if
// that ends or hangs, if an answer would end it, and if there are more bytes than answers to open
// questions. In the last case no answer is believed that came with them. Those who have no answer
// then ask by themselves.
//
// A slow answer holds up those behind it: nobody joins a lane whose last questions were sent more
// than 20 ms ago, and who has waited on it for 200 ms leaves.
//
// Any thread. The mutex is never held across I/O. Questions may hold passwords: their copies are
// overwritten as soon as they are sent.
class AuthLane {
 public:
  static constexpr std::size_t kMostTogether = 32;

  // Only tests pass others.
  struct Limits {
    std::int64_t old_ns = 20 * base::kNsPerMs;  // nobody joins when the last questions are older
    int patience_ms = 200;                      // who has waited for so long leaves
  };

  // Is told by the leader what happened on a kept connection, before another one may use it.
  using Note = std::function<void(int kept_fd, const AuthOutcome& outcome)>;

  // `kept` must outlive the lane.
  AuthLane(ConnectionShelf& kept, Note note, Limits limits)
      : kept_(kept), note_(std::move(note)), limits_(limits) {}

  // Asks on the lane. Returns nothing if the caller shall ask by itself, on whatever connection. An
  // outcome without an answer is that of the leader's connection; the caller shall ask again on a
  // new one. `line` is a whole line of wire::Auth or wire::Token. A leader waits for its answer
  // until `answer_by`, or for as long as a call on the connection may sleep.
  std::optional<AuthOutcome> ask(std::string_view line, base::Deadline answer_by);

  // How many callers are on the lane. It may have changed by the time it is used.
  std::size_t callers() const { return callers_.load(std::memory_order_relaxed); }

 private:
  enum class Entry { kNone, kFirst, kBehind };
  struct Question;
  class Wakes;
  struct Replies {
    std::array<AuthOutcome, kMostTogether> all;
    std::size_t count = 0;
    bool is_odd = false;
  };

  // Those that were sent together, in their order. Each is on the stack of its caller.
  class Asked {
   public:
    Question** begin() { return all_.data() + begin_; }
    Question** end() { return all_.data() + end_; }
    std::size_t size() const { return end_ - begin_; }
    void push(Question* question) { all_[end_++] = question; }
    Question* pop() { return all_[begin_++]; }
    void clear() { begin_ = end_ = 0; }

   private:
    std::array<Question*, kMostTogether> all_;
    std::size_t begin_ = 0;
    std::size_t end_ = 0;
  };

  // Those that were not sent yet, in their order, any number of them.
  class Waiting {
   public:
    std::size_t size() const { return size_; }
    void push(Question* question);
    Question* pop();  // null if there is none
    void erase(Question* question);

   private:
    Question* first_ = nullptr;
    Question* last_ = nullptr;
    std::size_t size_ = 0;
  };

  Entry enter(Question& mine) EXCLUDES(mutex_);
  std::optional<AuthOutcome> begin(Question& mine, base::Deadline answer_by) EXCLUDES(mutex_);
  std::optional<AuthOutcome> wait(Question& mine, base::Deadline answer_by) EXCLUDES(mutex_);
  std::uint32_t leave(Question& mine) EXCLUDES(mutex_);
  AuthOutcome lead(Question& mine, base::Deadline answer_by) EXCLUDES(mutex_);
  Replies read_replies();
  bool deliver(Replies& replies, Wakes& wakes) EXCLUDES(mutex_);
  void send_waiting() EXCLUDES(mutex_);
  void hand_on() EXCLUDES(mutex_);
  void give_up(const Question& mine) EXCLUDES(mutex_);
  tls::Socket dissolve(const Question* mine, Wakes& wakes) REQUIRES(mutex_);
  void take_waiting() REQUIRES(mutex_);
  void set_callers() REQUIRES(mutex_);

  ConnectionShelf& kept_;
  const Note note_;
  const Limits limits_;
  std::atomic<std::size_t> callers_ = 0;  // relaxed: a hint for those who choose a lane

  // These belong to the leader, and are handed on with the leadership.
  tls::Socket socket_;
  std::optional<wire::LineBuffer> received_;
  std::size_t open_ =
      0;  // questions that were sent and have no answer, even if nobody waits for it
  std::bitset<kMostTogether> are_tokens_;  // which of these, the next one first
  bool is_sent_ = false;                   // whether the last questions could be sent

  static constexpr std::size_t kMostLineBytes =
      std::string_view("auth::\n").size() + wire::kMaxUserBytes + wire::kMaxPasswordBytes;
  std::array<char, kMostTogether * kMostLineBytes> text_;
  std::size_t text_size_ = 0;

  base::Mutex mutex_;
  bool is_led_ GUARDED_BY(mutex_) = false;
  std::int64_t asked_ns_ GUARDED_BY(mutex_) = 0;  // when the last questions were sent
  Asked asked_ GUARDED_BY(mutex_);                // null: its caller has left
  Waiting waiting_ GUARDED_BY(mutex_);
};

}  // namespace fileserver
