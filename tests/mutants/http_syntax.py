"""Mutations of lib/http: framing, ranges, conditions, paths."""

from tree import Mutation

_FRAMING = (
    Mutation(
        "http-length-beside-chunks",
        "lib/http/request_head.cpp",
        'if (!is_same(value, "chunked") || body.kind != Body::Kind::kNone || head_.is_1_0_)',
        'if (!is_same(value, "chunked") || head_.is_1_0_)',
        ("unit/malformed fields are refused*",),
    ),
    Mutation(
        "http-two-lengths",
        "lib/http/request_head.cpp",
        "if (!size || body.kind != Body::Kind::kNone) return false;",
        "if (!size) return false;",
        ("unit/malformed fields are refused*",),
    ),
    Mutation(
        "http-chunks-in-1.0",
        "lib/http/request_head.cpp",
        "body.kind != Body::Kind::kNone || head_.is_1_0_)",
        "body.kind != Body::Kind::kNone)",
        ("unit/malformed heads are refused*",),
    ),
    Mutation(
        "http-two-hosts",
        "lib/http/request_head.cpp",
        "return head_.count(field) == 1 && std::ranges::all_of(value, is_host_byte);",
        "return std::ranges::all_of(value, is_host_byte);",
        ("unit/malformed heads are refused*",),
    ),
    Mutation(
        "http-two-authorizations",
        "lib/http/request_head.cpp",
        "case Field::kAuthorization: return head_.count(field) == 1;",
        "case Field::kAuthorization: return true;",
        ("unit/malformed fields are refused*",),
    ),
    Mutation(
        "http-head-has-no-bound",
        "lib/http/request_head.cpp",
        "if (state == State::kNeedMore && at_ - begin_ == kMaxHeadBytes) return refuse(431);",
        "",
        ("unit/a head of 16384 bytes is taken*",),
    ),
    Mutation(
        "http-cut-line-has-no-count",
        "lib/http/request_head.cpp",
        "if (at_ == part_begin_ && fields_ == kMaxFields) return refuse(431);",
        "if (at_ == part_begin_ && fields_ == kMaxFields + 1) return refuse(431);",
        ("unit/a hundred fields are taken*",),
    ),
    Mutation(
        "http-bytes-behind-a-chunk",
        "lib/http/chunks.cpp",
        "case Part::kDataCr: return go_on(byte == '\\r', Part::kDataLf);",
        "case Part::kDataCr: return go_on(true, Part::kDataLf);",
        ("unit/malformed chunks are refused*",),
    ),
    Mutation(
        "http-line-feed-in-an-extension",
        "lib/http/chunks.cpp",
        "return take_extra(is_value_byte(byte), Part::kExtension);",
        "return take_extra(true, Part::kExtension);",
        ("unit/malformed chunks are refused*",),
    ),
    Mutation(
        "http-extensions-have-no-bound",
        "lib/http/chunks.cpp",
        "if (is_good && extra_bytes_++ == kMaxHeadBytes) return refuse(431);",
        "",
        ("unit/extensions and trailers of a body*",),
    ),
)

_VALUES = (
    Mutation(
        "http-base64-without-padding",
        "lib/http/basic.cpp",
        "text.size() % 4 != 0 || ",
        "",
        ("unit/malformed base64 is refused",),
    ),
    Mutation(
        "http-path-is-decoded-to-a-backslash",
        "lib/http/path.cpp",
        "wire::is_file_name(name) && std::ranges::none_of(name, is_control) &&",
        "wire::is_file_name(name) && std::ranges::none_of(name, is_control) ||",
        ("unit/a path that no file can have is refused",),
    ),
    Mutation(
        "http-parts-are-more-than-the-file",
        "lib/http/range.cpp",
        "if (!part || part->size_bytes() > left_bytes) return {};",
        "if (!part) return {};",
        ("unit/parts that ask for more than the file*",),
    ),
    Mutation(
        "http-any-number-of-parts",
        "lib/http/range.cpp",
        "if (parts.size() > kMaxParts) return {};",
        "",
        ("unit/sixteen parts after joining*",),
    ),
    Mutation(
        "http-if-range-takes-weak-tags",
        "lib/http/conditions.cpp",
        "if (value.starts_with('\"')) return value == current.tag.view();",
        "if (value.find('\"') != value.npos) return value.ends_with(current.tag.view());",
        ("unit/If-Range takes the strong tag*",),
    ),
    Mutation(
        "http-if-match-takes-weak-tags",
        "lib/http/conditions.cpp",
        "(takes_weak || !is_weak)",
        "(takes_weak || is_weak || !is_weak)",
        ("unit/If-Match compares strongly",),
    ),
    Mutation(
        "http-quoted-comma-ends-an-element",
        "lib/http/syntax.h",
        "if (list[comma] == ',' && !is_quoted) break;",
        "if (list[comma] == ',') break;",
        ("unit/other digests are passed over",),
    ),
    Mutation(
        "http-2-preface-is-malformed",
        "lib/http/request_head.cpp",
        "return method == Method::kOptions || method == Method::kOther;",
        "return method == Method::kOptions;",
        ("unit/the first request of HTTP/2*",),
    ),
    Mutation(
        "http-future-is-last-modified",
        "lib/http/conditions.cpp",
        "if (modified_ns >= 0 && seconds <= now_s) modified = seconds;",
        "if (modified_ns >= 0) modified = seconds;",
        ("unit/a time before 1970 or in the future*",),
    ),
)

MUTATIONS: tuple[Mutation, ...] = (*_FRAMING, *_VALUES)
