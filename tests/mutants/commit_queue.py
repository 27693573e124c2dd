"""Mutations of the queue in which new accounts wait for one commit of SQLite."""

from tree import Mutation

MUTATIONS: tuple[Mutation, ...] = (
    Mutation(
        "ok-comes-before-the-commit",
        "authserver/stores/commit_queue.cpp",
        "if (done) done = transaction.commit();",
        "if (done) {\n    answer_ = State::kCreated;\n"
        "    for (const Taken& taken : taken_) answer(taken);\n"
        "    taken_.clear();\n    done = transaction.commit();\n  }",
        ("unit/nobody has an answer before the commit*",),
    ),
    Mutation(
        "failed-commit-is-acknowledged-to-others",
        "authserver/stores/commit_queue.cpp",
        "  transaction.cancel();",
        "  transaction.cancel();\n  answer_ = State::kCreated;\n  return done;",
        ("unit/if a commit fails*",),
    ),
    Mutation(
        "taken-name-is-exists-though-the-commit-failed",
        "authserver/stores/commit_queue.cpp",
        "is_committed && taken.is_refused ?",
        "taken.is_refused ?",
        ("unit/if a commit fails*",),
    ),
    Mutation(
        "taken-name-refuses-all",
        "authserver/stores/commit_queue.cpp",
        "if (!inserted && !taken.is_refused) return inserted;",
        "if (!inserted) return inserted;",
        ("unit/a name that is taken refuses only*",),
    ),
    Mutation(
        "commit-is-waited-for-without-end",
        "authserver/stores/commit_queue.cpp",
        "if (now_ns >= deadline_ns) return",
        "if (false) return",
        ("unit/one whose deadline passes while it waits*",),
        may_hang=True,
    ),
    Mutation(
        "transaction-has-no-bound",
        "authserver/stores/commit_queue.cpp",
        "i < kMostWaiting && taken_.size() + 1 < kMostTogether;",
        "i < kMostWaiting;",
        ("unit/a transaction has a bound*",),
    ),
    Mutation(
        "account-of-a-dead-leader-is-acknowledged",
        "authserver/stores/commit_queue.cpp",
        "    answer({index, false});\n    base::wake",
        "    answer_ = State::kCreated;\n    answer({index, false});\n    base::wake",
        ("unit/if the leader is killed in its transaction*",),
    ),
    Mutation(
        "transaction-of-a-dead-leader-is-taken-over",
        "authserver/stores/commit_queue.cpp",
        "    answer({index, false});\n    base::wake",
        "    taken_.push_back({index, false});\n    base::wake",
        ("unit/the next leader does not take over*",),
    ),
    Mutation(
        "followers-of-a-dead-leader-wait-for-ever",
        "authserver/stores/commit_queue.cpp",
        "if (locked_ == ProcessMutex::Locked::kYesAfterDeath) fail_jobs_of_the_dead();",
        "",
        ("unit/if the leader is killed in its transaction*",),
        may_hang=True,
    ),
    Mutation(
        "places-of-the-dead-are-lost",
        "authserver/stores/commit_queue.cpp",
        "index < kMostWaiting; ++index) free_if_abandoned(index);",
        "index < 0; ++index) free_if_abandoned(index);",
        ("unit/the places of processes that were killed*",),
        may_hang=True,
    ),
    Mutation(
        "passwords-stay-in-the-commit-queue",
        "authserver/stores/commit_queue.cpp",
        "::sodium_memzero(record.data(), record_bytes);",
        "",
        (
            "unit/those who wait for a commit share*",
            "unit/one whose deadline passes while it waits*",
        ),
    ),
    Mutation(
        "job-is-freed-while-the-leader-reads-it",
        "authserver/stores/commit_queue.cpp",
        "jobs_[index].owner.unlock();\n  return too_late();",
        "leave(index);\n  return too_late();",
        ("unit/one whose deadline passes in a transaction*",),
    ),
    Mutation(
        "each-commits-alone",
        "authserver/stores/commit_queue.cpp",
        "  take_waiting();\n  const auto own",
        "  const auto own",
        ("unit/those who wait for a commit share*",),
    ),
)
