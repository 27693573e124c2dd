"""Mutations of how the fileserver asks: its connections to the authserver, the lanes."""

from tree import Mutation

_ANSWERS = "e2e/test_auth_answers.AuthAnswersTest."
_KEPT = "e2e/test_auth_answers.KeptConnectionTest."

_AUTH = (
    Mutation(
        "trickle-on-a-kept-connection-has-no-limit",
        "fileserver/auth_exchange.cpp",
        "must_watch_clock = true)",
        "must_watch_clock = is_new)",
        (_ANSWERS + "test_an_answer_that_trickles_on_a_kept_connection_is_unavailable_in_time",),
        may_hang=True,
    ),
    Mutation(
        "connection-is-kept-after-a-time-out",
        "fileserver/auth_client.cpp",
        "return outcome.is_reusable && goes_on(outcome.reply);",
        "return outcome.kind == AuthOutcome::Kind::kTimedOut || goes_on(outcome.reply);",
        (_ANSWERS + "test_a_connection_whose_request_timed_out_is_closed",),
    ),
    Mutation(
        "bytes-that-came-unasked-are-an-answer",
        "fileserver/connection_shelf.h",
        "while (fd.is_open() && !net::is_quiet_and_open(fd.get())) fd = take();",
        "",
        (_KEPT + "test_one_that_was_closed_while_idle_is_replaced_unnoticed",),
    ),
    Mutation(
        "connection-is-kept-after-busy",
        "fileserver/auth_exchange.cpp",
        "return !wire::closes_connection(err->code);",
        "return true;",
        (_KEPT + "test_one_that_was_told_busy_and_closed_is_not_kept",),
    ),
    Mutation(
        "new-is-sent-twice",
        "fileserver/auth_client.cpp",
        "ask_if_acceptable(request, Repeat::kUnsafe, ",
        "ask_if_acceptable(request, Repeat::kSafe, ",
        (_ANSWERS + "test_a_new_without_an_answer_is_unavailable_and_not_repeated",),
    ),
    Mutation(
        "answer-of-nonsense-is-unavailable",
        "fileserver/auth_exchange.cpp",
        'return Error{ErrorCode::kInternal, "the authserver does not speak the protocol"};\n'
        "    case Kind::kAnswered",
        'return Error{ErrorCode::kUnavailable, "the authserver does not speak the protocol"};\n'
        "    case Kind::kAnswered",
        (_ANSWERS + "test_what_is_no_answer_grants_nothing",),
    ),
    Mutation(
        "name-look-up-has-no-limit",
        "lib/net/resolved_name.cpp",
        "const bool is_in_time = has_ended(under_way, wait_until);",
        "const bool is_in_time = (under_way.wait(), true);",
        ("unit/a name server that hangs*",),
        may_hang=True,
    ),
    Mutation(
        "address-that-failed-is-not-noted",
        "fileserver/auth_addresses.cpp",
        "note_no_answer(candidates[i], fd.error().context, began_ns);",
        "",
        (
            "e2e/test_auth_outage.AuthOutageTest.test_the_log_says_once_that_it_is_away_and_once_that_it_is_back",
        ),
    ),
    Mutation(
        "address-that-hangs-is-not-passed-over",
        "fileserver/auth_client.cpp",
        "note_no_answer(made->address, outcome);\n    if (may_try_another)",
        "if (may_try_another)",
        ("unit/an authserver that did not answer gets*",),
    ),
)

_LANE = (
    Mutation(
        "more-answers-than-questions-are-believed",
        "fileserver/auth_lane.cpp",
        "replies.is_odd = replies.count == open_ || !goes_on(reply);",
        "if (replies.count == open_) break;\n    replies.is_odd = !goes_on(reply);",
        ("unit/of more answers than questions none*",),
        may_hang=True,
    ),
    Mutation(
        "part-of-one-answer-more-is-ignored",
        "fileserver/auth_lane.cpp",
        "(has_answered_all && !received_->is_empty())",
        "false",
        ("unit/of more answers than questions none*",),
        may_hang=True,
    ),
    Mutation(
        "lane-goes-on-after-an-odd-answer",
        "fileserver/auth_lane.cpp",
        "replies.count == open_ || !goes_on(reply);",
        "replies.count == open_;",
        ("unit/a lane is closed by what does not answer*",),
        may_hang=True,
    ),
    Mutation(
        "everybody-joins-an-old-lane",
        "fileserver/auth_lane.cpp",
        "now_ns - asked_ns_ > limits_.old_ns",
        "false",
        ("unit/nobody joins a lane whose last question*",),
        may_hang=True,
    ),
    Mutation(
        "nobody-leaves-a-lane",
        "fileserver/auth_lane.cpp",
        "if (!base::sleep_while<kOfOneProcess>(word, kSleeps, time_ns)) return false;",
        "static_cast<void>(base::sleep_while<kOfOneProcess>(word, kSleeps, time_ns));",
        ("unit/who has waited for long leaves*",),
        may_hang=True,
    ),
    Mutation(
        "answer-for-one-who-left-is-the-next-ones",
        "fileserver/auth_lane.cpp",
        "*in_asked = nullptr;",
        "*in_asked = nullptr;\n    --open_;",
        ("unit/the answer for somebody who has left*",),
        may_hang=True,
    ),
    Mutation(
        "lane-asks-for-fewer-than-it-may",
        "fileserver/auth_lane.cpp",
        "while (asked_.size() < kMostTogether && ",
        "while (asked_.size() + 1 < kMostTogether && ",
        ("unit/any number of callers wait*",),
        may_hang=True,
    ),
    Mutation(
        "lane-keeps-who-has-left",
        "fileserver/auth_lane.cpp",
        "    waiting_.erase(&mine);\n",
        "",
        ("unit/who leaves from the middle*",),
        may_hang=True,
    ),
    Mutation(
        "leader-keeps-the-lead-until-all-are-answered",
        "fileserver/auth_lane.cpp",
        "while (mine.state.load(std::memory_order_relaxed) != kAnswered) {",
        "while (mine.state.load(std::memory_order_relaxed) != kAnswered || open_ > 0) {",
        ("unit/a leader with its answer does not wait*",),
        may_hang=True,
    ),
    Mutation(
        "lane-that-broke-leaves-its-callers-waiting",
        "fileserver/auth_lane.cpp",
        "if (question != nullptr && question != mine) wakes.add(*question, kAlone);",
        "",
        ("unit/when the connection ends*",),
        may_hang=True,
    ),
    Mutation(
        "guesses-are-asked-on-a-lane",
        "fileserver/log_in.cpp",
        "attempt.was_right_lately() ? AuthClient::Sharing::kAllowed",
        "true ? AuthClient::Sharing::kAllowed",
        ("unit/a guess has a connection of its own*",),
        may_hang=True,
    ),
    Mutation(
        "caller-on-a-lane-that-hangs-is-unavailable",
        "fileserver/auth_client.cpp",
        "if (outcome && has_answer(*outcome)) return status_of(*outcome);",
        "if (outcome) return status_of(*outcome);",
        ("unit/an `auth` on a lane that hangs*",),
    ),
    Mutation(
        "one-of-several-authservers-has-all-the-work",
        "fileserver/auth_client.cpp",
        "if (addresses_.count() != 1) return {};",
        "",
        ("unit/with several authservers each question*",),
        may_hang=True,
    ),
    Mutation(
        "copies-of-questions-are-kept",
        "fileserver/auth_lane.cpp",
        "  ::explicit_bzero(text_.data(), text_size_);\n",
        "",
        (
            "e2e/test_secrets.SecretsTest"
            ".test_no_password_stays_in_memory_once_its_request_is_answered",
        ),
    ),
)

MUTATIONS: tuple[Mutation, ...] = (*_AUTH, *_LANE)
