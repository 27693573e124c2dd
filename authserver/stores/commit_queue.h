// Lets those who create accounts at the same time share one commit of the store.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "authserver/stores/account_store.h"
#include "base/clock.h"
#include "base/process_mutex.h"
#include "wire/request.h"

namespace authserver {

// A transaction of one connection to a store. One thread.
class AccountTransaction {
 public:
  virtual ~AccountTransaction() = default;

  // Waits for other transactions until the deadline, a time of base::now_ns(). If it fails, no
  // transaction has begun.
  virtual base::Status begin(std::int64_t deadline_ns) = 0;

  // kExists if the name is taken, also by an account of this transaction. Only this account is
  // refused then. After any other error the transaction must be cancelled.
  virtual base::Status insert(const Account& account) = 0;

  // Returns once all accounts are durable. After an error the transaction must be cancelled, and
  // nobody may rely on an account of it.
  virtual base::Status commit() = 0;

  // Throws nothing. Without an open transaction it does nothing.
  virtual void cancel() = 0;
};

// Cancels a transaction at its end, unless it was told that the transaction is committed. So an
// allocation that fails while the transaction is open does not leave it open.
class CancelUnlessCommitted {
 public:
  explicit CancelUnlessCommitted(AccountTransaction& transaction) : transaction_(&transaction) {}
  ~CancelUnlessCommitted() {
    if (transaction_ != nullptr) transaction_->cancel();
  }
  CancelUnlessCommitted(const CancelUnlessCommitted&) = delete;
  CancelUnlessCommitted& operator=(const CancelUnlessCommitted&) = delete;

  void committed() { transaction_ = nullptr; }

 private:
  AccountTransaction* transaction_;
};

// Who finds nobody committing leads: it commits its account in one transaction with those of all
// who wait. Meanwhile others wait for the next transaction. So commits share the wait for the disk,
// and a request that is alone waits for nobody.
//
// Any thread or process; lies in shared memory. Nobody holds a lock that others wait for while it
// uses the store. A leader that dies leaves its transaction without an answer: all in it are told
// kUnavailable. Somebody who waits notices that in a tenth of a second or less, and leads.
class CommitQueue {
 public:
  // So many accounts are in one transaction at most.
  static constexpr std::size_t kMostTogether = 128;

  // So many requests may wait. A further one looks every millisecond whether it may wait or lead.
  // So does one whose record is longer than this.
  static constexpr std::size_t kMostWaiting = 256;
  static constexpr std::size_t kMostRecordBytes = 255;

  // Who waits looks so often whether the leader has died. Nobody calls it in that case.
  static constexpr std::int64_t kLookEveryNs = 50 * base::kNsPerMs;

  explicit CommitQueue(std::int64_t look_every_ns = kLookEveryNs) : look_every_ns_(look_every_ns) {}

  // As AccountStore::create(). Waits until the deadline, a time of base::now_ns(), and is
  // kUnavailable after it. `transaction` is used if this request leads.
  base::Status create(const Account& account, AccountTransaction& transaction,
                      std::int64_t deadline_ns);

  // How many requests wait for a transaction now. Not one that leads, or that is in one.
  std::size_t waiting() const;

 private:
  // A futex, so it has 32 bits. The owner of a job makes it kWaiting, and kFree when it leaves. The
  // leader makes it kTaken, and then one of the answers.
  enum class State : std::uint32_t {
    kFree,
    kWaiting,
    kCalled,     // waits, and was woken to lead
    kTaken,      // is in the transaction of the leader
    kAbandoned,  // is in the transaction of the leader, which frees it; its owner has left
    kCreated,    // from here on: answers
    kExists,
    kUnavailable,
    kInternal,
  };

  // The account of one request that waits. The queue owns the bytes, because the request may leave
  // while the leader reads them. Whoever frees the job wipes them.
  struct Job {
    void fill(const Account& account);
    Account account() const;
    void wipe();

    base::ProcessMutex owner;  // held by the request, so that its death shows
    std::uint8_t user_bytes = 0;
    std::uint8_t record_bytes = 0;
    std::array<char, wire::kMaxUserBytes> user;
    std::array<char, kMostRecordBytes> record;
  };

  // Has the right to lead while it lives, if nobody else has.
  class Lead;

  std::optional<std::size_t> enter(const Account& account);
  bool is_unused(std::size_t index);
  bool withdraw(std::size_t index);
  bool take_out(std::size_t index);
  std::optional<base::Status> take_answer(std::size_t index);
  base::Status give_up(std::size_t index);
  void leave(std::size_t index);
  void free(std::size_t index);
  void call_next();

  static bool is_waiting(State state) {
    return state == State::kWaiting || state == State::kCalled;
  }

  const std::int64_t look_every_ns_;
  base::ProcessMutex leader_;                   // held while leading; nobody waits for it
  std::atomic<std::size_t> first_to_take_ = 0;  // so that each has its turn if not all fit
  std::array<std::atomic<State>, kMostWaiting> states_{};  // of jobs_; apart, as all are searched
  std::array<Job, kMostWaiting> jobs_;
};

// Whether a request was in the transaction of another one, which knows why it failed.
bool was_failed_by_leader(const base::Error& error);

}  // namespace authserver
