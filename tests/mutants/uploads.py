"""Mutations of uploads: fileserver/files/uploads.*, fileserver/http/put_file.*."""

from tree import Mutation

_PUT = "e2e/test_http_uploads.PutTest."

MUTATIONS: tuple[Mutation, ...] = (
    Mutation(
        "upload-is-answered-before-it-is-in-memory",
        "fileserver/files/file_cache.cpp",
        "  if (file) {\n    file->version = version;",
        "  if (file && version.size_bytes < 0) {\n    file->version = version;",
        ("unit/an upload is on disk and in memory*",),
    ),
    Mutation(
        "upload-is-read-again",
        "fileserver/files/file_cache.cpp",
        "const FileVersion version = version_of(fd);  // a rename changes it",
        "const FileVersion version = written;",
        ("unit/the updater finds an upload current*",),
    ),
    Mutation(
        "upload-names-are-served",
        "fileserver/files/fence.cpp",
        "|| is_upload_name(name) ||",
        "||",
        ("unit/names of uploads are never served",),
    ),
    Mutation(
        "upload-names-are-read-into-memory",
        "fileserver/files/folder_watch.cpp",
        "if (is_upload_name(name)) continue;",
        "",
        ("unit/the updater passes over the names of uploads",),
    ),
    Mutation(
        "upload-names-are-watched",
        "fileserver/files/folder_watch.cpp",
        "} else if (is_upload_name(event.name)) {",
        "} else if (event.len == 0) {",
        ("unit/the updater passes over the names of uploads",),
    ),
    Mutation(
        "uploads-of-other-servers-are-swept",
        "fileserver/files/temporary_file.cpp",
        "return ::flock(fd, LOCK_EX | LOCK_NB) == 0 &&",
        "return fd >= 0 &&",
        ("unit/what earlier servers left is removed*",),
    ),
    Mutation(
        "upload-that-failed-is-left",
        "fileserver/files/temporary_file.cpp",
        "if (!name_.empty()) ::unlinkat(folder_, name_.c_str(), 0);",
        "",
        ("unit/conditions are looked at before*",),
    ),
    Mutation(
        "condition-is-only-looked-at-first",
        "fileserver/files/uploads.cpp",
        "if (!current.may_change(may_change)) return {UploadStatus::kNotAllowed};",
        "",
        ("unit/conditions are looked at before*", "unit/of many uploads of one new name*"),
    ),
    Mutation(
        "full-disk-is-noticed-late",
        "fileserver/files/uploads.cpp",
        "|| !upload.file_.reserve(size_bytes.value_or(0))",
        "",
        ("unit/room that the disk does not have*", _PUT + "test_a_refusal_spares_the_body"),
    ),
    Mutation(
        "piece-replaces-the-file",
        "fileserver/http/put_file.cpp",
        "if (head.has(Field::kContentRange)) return 400;",
        "",
        (_PUT + "test_a_refusal_spares_the_body",),
    ),
    Mutation(
        "digest-is-not-compared",
        "fileserver/http/put_file.cpp",
        "if (!digests.holds()) return 400;",
        "",
        (_PUT + "test_digests",),
    ),
    Mutation(
        "chunks-have-no-limit",
        "fileserver/http/put_file.cpp",
        "if (piece->size() > left) return 413;",
        "",
        (_PUT + "test_the_largest_body",),
    ),
    Mutation(
        "short-body-is-published",
        "fileserver/http/put_file.cpp",
        "if (status != 0) return status;\n  if (!digests",
        "if (!digests",
        (_PUT + "test_a_body_that_ends_early_changes_nothing",),
    ),
    Mutation(
        "body-under-way-is-cut-by-a-stop",
        "lib/serve/http_conversation.cpp",
        "stream_.receive_rest(",
        "stream_.receive(",
        ("e2e/test_http_upload_faults.StopTest.test_a_body_under_way_is_taken_to_its_end",),
    ),
    Mutation(
        "client-that-went-away-is-waited-for",
        "lib/serve/stream.cpp",
        " && net::is_established(fd())",
        "",
        ("e2e/test_http_upload_faults.StopTest.test_a_client_that_goes_away_is_not_waited_for",),
        may_hang=True,
    ),
    Mutation(
        "folder-that-is-gone-is-not-found",
        "fileserver/files/uploads.cpp",
        "status == UploadStatus::kNotFound ? UploadStatus::kConflict : status",
        "status",
        (
            "e2e/test_http_upload_faults.RemovedFolderTest.test_the_folder_may_go_while_the_body_comes",
        ),
    ),
)
