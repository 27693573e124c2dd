"""Mutations of fileserver/files/: the fence, versions, the cache."""

from tree import Mutation

_SENT = "e2e/test_disk_mode.ChangeWhileSentTest."
_PERMISSIONS = "e2e/test_prefetch_permissions.PrefetchPermissionsTest."
_READS = "e2e/test_file_reads.FileReadsTest."
_FOLLOWS = "e2e/test_prefetch_follows.PrefetchFollowsTest."

_FENCE = (
    Mutation(
        "file-name-may-have-line-breaks",
        "fileserver/files/fence.cpp",
        'kNeverInNames("\\0\\r\\n", 3)',
        'kNeverInNames("\\0", 1)',
        ("unit/a name with a line break*",),
    ),
    Mutation(
        "served-folder-need-not-be-readable",
        "fileserver/files/fence.cpp",
        "R_OK | X_OK, AT_EACCESS) != 0)\n    return root_error",
        "F_OK, AT_EACCESS) != 0)\n    return root_error",
        (_PERMISSIONS + "test_a_served_folder_that_cannot_be_entered_or_listed_ends_the_start",),
        may_hang=True,
    ),
    Mutation(
        "unreadable-files-are-over-the-limit",
        "fileserver/files/prefetched_files.cpp",
        "} else if (fence_->status_of_readable(name)) {",
        "} else if (fence_->status_of(name, Fence::Links::kRefused)) {",
        (_PERMISSIONS + "test_what_cannot_be_read_at_start_is_named",),
    ),
    Mutation(
        "links-may-leave-the-folder",
        "fileserver/files/fence.cpp",
        "RESOLVE_BENEATH | RESOLVE_NO_MAGICLINKS",
        "RESOLVE_NO_MAGICLINKS",
        ("unit/links are followed only*",),
    ),
    Mutation(
        "links-are-followed-without-openat2",
        "fileserver/files/fence.cpp",
        "O_PATH | O_NOFOLLOW | O_CLOEXEC",
        "O_PATH | O_CLOEXEC",
        ("unit/without openat2*",),
    ),
    Mutation(
        "fifos-are-opened",
        "fileserver/files/fence.cpp",
        "if (located && !S_ISREG(located->status.st_mode))",
        "if (located && S_ISDIR(located->status.st_mode))",
        ("unit/what is not a regular file*",),
        may_hang=True,
    ),
    Mutation(
        "name-ends-at-a-nul",
        "fileserver/files/fence.cpp",
        'kNeverInNames("\\0\\r\\n", 3)',
        'kNeverInNames("\\r\\n", 2)',
        ("unit/names that leave the folder*",),
    ),
    Mutation(
        "no-descriptor-is-not-found",
        "fileserver/files/fence.cpp",
        "errno_value == EMFILE || ",
        "",
        (
            "e2e/test_descriptors.NoDescriptorForAFileTest"
            ".test_a_file_that_cannot_be_opened_is_internal_and_not_not_found",
        ),
    ),
)

_VERSIONS = (
    Mutation(
        "new-link-hides-a-change",
        "fileserver/files/file_version.cpp",
        "a.changed_ns == b.changed_ns;",
        "(a.changed_ns == b.changed_ns || a.links != b.links);",
        (
            "unit/a new link does not excuse*",
            _FOLLOWS + "test_a_change_with_its_old_time_put_back_is_seen_after_a_new_link",
        ),
    ),
    Mutation(
        "change-time-is-ignored",
        "fileserver/files/file_version.cpp",
        " && a.changed_ns == b.changed_ns;",
        ";",
        (_FOLLOWS + "test_a_change_of_the_same_size_with_its_old_time_put_back_is_seen",),
    ),
    Mutation(
        "removed-file-is-cut",
        "fileserver/files/file_version.cpp",
        "if (before.links == 0 || after.links != 0) return false;",
        "if (before.links >= 0) return false;",
        ("unit/a file that lost its last name*",),
    ),
    Mutation(
        "last-piece-is-sent-unchecked",
        "fileserver/files/opened_file.cpp",
        "(left > 0 || is_still(version, fd))",
        "true",
        (_SENT + "test_a_change_of_only_its_last_byte_closes_the_connection_early",),
    ),
    Mutation(
        "file-cut-shorter-is-padded",
        "fileserver/files/opened_file.cpp",
        "got == static_cast<ssize_t>(piece.size()) && (left > 0 || is_still(version, fd))",
        "true",
        (_SENT + "test_a_file_that_is_cut_shorter_is_never_padded",),
    ),
    Mutation(
        "range-in-memory-begins-with-the-file",
        "fileserver/files/opened_file.cpp",
        "part.offset += static_cast<std::int64_t>(range.begin);",
        "",
        ("unit/any range of a file is sent*",),
    ),
    Mutation(
        "range-on-disk-begins-with-the-file",
        "fileserver/files/opened_file.cpp",
        "auto offset = static_cast<std::int64_t>(range.begin);",
        "std::int64_t offset = 0;",
        ("unit/any range of a file is sent*",),
    ),
    Mutation(
        "disk-error-is-not-logged",
        "fileserver/files/opened_file.cpp",
        'cut(stream, file.name, "it cannot be read", errno);',
        'cut(stream, file.name, "it cannot be read", 0);',
        ("e2e/test_disk_mode.DiskModeTest.test_the_log_says_why_a_file_could_not_be_read",),
    ),
)

_CACHE = (
    Mutation(
        "file-written-just-now-is-read",
        "fileserver/files/cached_file.cpp",
        "!is_settled(version) || ",
        "",
        ("unit/a file that was written just now*",),
        may_hang=True,
    ),
    Mutation(
        "reading-cannot-be-ended",
        "fileserver/files/cached_file.cpp",
        "(have == 0 || pieces.may_go_on())",
        "true",
        ("unit/reading a large file can be ended*",),
    ),
    Mutation(
        "large-file-is-copied-to-be-sent",
        "fileserver/files/cached_file.cpp",
        "size_bytes >= kPackedBelowBytes && map(",
        "false && map(",
        ("unit/files of any size are read whole*",),
    ),
    Mutation(
        "memory-of-a-file-is-never-freed",
        "fileserver/files/sendable_memory.cpp",
        "FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE",
        "FALLOC_FL_KEEP_SIZE",
        ("unit/sendable memory is freed with its region*",),
    ),
    Mutation(
        "memory-of-two-files-may-share-a-page",
        "fileserver/files/sendable_memory.cpp",
        "step_bytes_(largest_page_bytes())",
        "step_bytes_(4096)",
        ("unit/regions of sendable memory begin apart*",),
    ),
    Mutation(
        "file-that-ends-early-is-whole",
        "lib/serve/stream.cpp",
        "if (sent == 0 || (sent < 0 && !is_timeout(errno))) is_over_ = true;",
        "if (sent < 0 && !is_timeout(errno)) is_over_ = true;",
        ("unit/a file that is shorter than its range*",),
        may_hang=True,
    ),
    Mutation(
        "slow-peer-of-a-large-file-is-not-looked-at",
        "lib/serve/stream.cpp",
        "enough_ == 1 ? left : std::min(left, kOneWaitBytes)",
        "left",
        ("unit/a peer that takes a file too slowly*",),
        may_hang=True,
    ),
    Mutation(
        "bookkeeping-is-not-counted",
        "fileserver/files/file_cache.cpp",
        "budget_.take(bookkeeping_bytes(name))",
        "budget_.take(0)",
        ("unit/files without bytes count too*",),
    ),
    Mutation(
        "old-version-stays-beside-the-new-one",
        "fileserver/files/file_cache.cpp",
        "  serve_from_disk(name);\n  return budget_.take(bytes);",
        "  serve_from_disk(name);\n  return MemoryShare(budget_, bytes);",
        ("unit/the limit holds while a file is replaced*",),
    ),
    Mutation(
        "change-during-the-read-is-missed",
        "fileserver/files/file_cache.cpp",
        "if (!is_still(name, file->version)) return compare(name).state;",
        "",
        ("unit/a version is not kept if its folder*",),
    ),
    Mutation(
        "mounts-are-not-noticed",
        "fileserver/files/folder_watch.cpp",
        "changes.has_mounts = (waiting[2].revents & POLLPRI) != 0;",
        "",
        (
            "e2e/test_prefetch_mounts.PrefetchMountsTest."
            "test_what_is_mounted_over_a_file_is_served_until_it_is_unmounted",
        ),
    ),
    Mutation(
        "no-descriptor-forgets-a-file",
        "fileserver/files/file_cache.cpp",
        "if (status.error().code != ErrorCode::kNotFound) return {State::kUnchecked};",
        "",
        ("unit/a check without descriptors*",),
    ),
    Mutation(
        "nothing-is-checked-while-loading",
        "fileserver/files/cache_updater.cpp",
        "process_events(base::Deadline::in_ms(0));",
        "",
        ("unit/a file that is removed while a large one*",),
    ),
    Mutation(
        "updater-does-not-end-while-loading",
        "fileserver/files/cache_updater.cpp",
        "    return may_go_on();\n  };",
        "    return true;\n  };",
        ("unit/the updater ends while it loads*",),
        may_hang=True,
    ),
    Mutation(
        "folder-without-watches-is-never-listed",
        "fileserver/files/cache_updater.cpp",
        "kListEveryMs = 1000;",
        "kListEveryMs = 1'000'000'000;",
        ("e2e/test_prefetch_unwatched.UnwatchedTest.test_changes_are_seen_without_watches",),
    ),
    Mutation(
        "processes-serve-what-was-there-at-start",
        "fileserver/files/prefetched_files.cpp",
        "  if (updater_) return true;\n",
        "  return true;\n",
        ("e2e/test_file_processes.FileProcessesTest.test_changes_are_seen_by_every_process",),
    ),
    Mutation(
        "processes-take-guesses-without-a-word",
        "fileserver/config.cpp",
        "return wrong_for_processes(config);",
        "return {};",
        ("e2e/test_file_processes.FileProcessesTest.test_what_needs_threads_is_wrong_usage",),
    ),
    Mutation(
        "root-that-was-made-again-is-not-watched",
        "fileserver/files/cache_updater.cpp",
        "if (cache_.times_root_was_opened_again() != known_root_) check_everything();",
        "",
        ("unit/a root that was made again*",),
    ),
    Mutation(
        "other-names-of-a-file-stay-old",
        "fileserver/files/cache_updater.cpp",
        "if (other != name) check_closed(other);",
        "",
        (_FOLLOWS + "test_a_change_through_one_name_of_a_file_is_seen_under_all_its_names",),
    ),
    Mutation(
        "watches-of-folders-that-left-stay",
        "fileserver/files/folder_watch.cpp",
        "    forget_below(folder);",
        "",
        ("unit/a folder that left the root*",),
    ),
    Mutation(
        "permissions-are-not-followed",
        "fileserver/files/folder_watch.cpp",
        "IN_MOVED_TO | IN_ATTRIB |",
        "IN_MOVED_TO |",
        ("unit/a file is reported when its permissions*",),
        may_hang=True,
    ),
    Mutation(
        "file-published-by-a-link-is-not-loaded",
        "fileserver/files/prefetched_files.cpp",
        "if (opened && updater_ && cache_.has_room_for(real_name))",
        "if (false)",
        (_FOLLOWS + "test_a_file_that_had_no_name_while_it_was_written_is_served_and_followed",),
    ),
    Mutation(
        "file-that-inotify-missed-is-not-found",
        "fileserver/files/prefetched_files.cpp",
        "  auto opened = disk_.open(name);\n",
        "  base::Result<OpenedFile> opened = base::Error{base::ErrorCode::kNotFound, {}};\n"
        "  static_cast<void>(name);\n",
        (_FOLLOWS + "test_a_file_that_was_never_open_for_writing_is_served",),
    ),
    Mutation(
        "failure-of-a-thread-is-lost",
        "fileserver/files/prefetched_files.cpp",
        "if (failure) std::rethrow_exception(failure);",
        "",
        ("unit/an exception of a call*",),
    ),
    Mutation(
        "reads-from-disk-have-one-size",
        "fileserver/files/disk_files.cpp",
        ",\n                    .piece_bytes = reads_.piece_bytes}",
        "}",
        (_READS + "test_read_size_is_what_one_read_asks_for",),
    ),
    Mutation(
        "system-reads-ahead-in-any-case",
        "fileserver/files/disk_files.cpp",
        "if (!reads_.has_read_ahead)",
        "if (false)",
        (_READS + "test_without_read_ahead_only_what_is_asked_for_is_read",),
    ),
    Mutation(
        "send-buffer-is-as-the-system-likes",
        "lib/net/listen.cpp",
        "if (bytes > 0) ::setsockopt",
        "if (false) ::setsockopt",
        ("unit/accepted connections have the send buffer*",),
    ),
)

MUTATIONS: tuple[Mutation, ...] = (*_FENCE, *_VERSIONS, *_CACHE)
