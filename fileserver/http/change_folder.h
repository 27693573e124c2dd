// DELETE and MKCOL, and what the results of changes are answered with (--uploads folder).
#pragma once

#include "fileserver/files/uploads.h"
#include "fileserver/http/exchange_lines.h"
#include "fileserver/http/handler.h"
#include "http/conditions.h"
#include "http/request_head.h"

namespace fileserver {

void delete_file(Exchange& exchange, Parts& parts);
void make_collection(Exchange& exchange, Parts& parts);

// Evaluates If-Match and the other conditions of a change. The head must outlive what is returned.
MayChange conditions_of(const http::RequestHead& head, std::int64_t now_s);

// Answers what stands beside the enumerator. Requires: not kGoOn.
void answer_change(Exchange& exchange, const Parts& parts, UploadStatus status);

}  // namespace fileserver
