// The SHA-256 of a file, asked for by HTTP: Want-Repr-Digest, and GET of a path below "/-/sha256/".
#pragma once

#include <string_view>

#include "base/result.h"
#include "base/sha256.h"
#include "fileserver/files/opened_file.h"

namespace fileserver {

class Exchange;
struct Parts;

inline constexpr std::string_view kDigestPaths = "-/sha256/";

// As Digests::of(). Ends with kUnavailable when nobody can take the answer any more. A client that
// has finished sending is most likely gone, so that nothing is computed for it for longer than a
// second.
base::Result<base::Sha256Digest> digest_for(Exchange& exchange, Parts& parts,
                                            const OpenedFile& file);

// GET and HEAD of "/-/sha256/NAME": one line, as sha256sum prints it. Names with a backslash or a
// line break, which sha256sum escapes, are no names here (http/path.h).
void get_digest(Exchange& exchange, Parts& parts);

}  // namespace fileserver
