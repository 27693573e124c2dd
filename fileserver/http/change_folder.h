// DELETE and MKCOL, and what the results of changes are answered with (--uploads folder).
#pragma once

#include "fileserver/files/uploads.h"
#include "fileserver/http/handler.h"
#include "http/conditions.h"

namespace fileserver {

void delete_file(Exchange& exchange, Parts& parts);
void make_collection(Exchange& exchange, Parts& parts);

// Evaluates If-Match and the other conditions of a change. The head must outlive what is returned.
MayChange conditions_of(const http::RequestHead& head, std::int64_t now_s);

// Adds a change that was answered to the transfer log, if there is one. Of the transfer, the times,
// the change and how far the body has come are set already. Requires: the request has a path.
void log_change(const Exchange& exchange, Parts& parts, Transfer transfer);

// Answers what stands beside the enumerator. Requires: not kGoOn.
void answer_change(Exchange& exchange, UploadStatus status);

}  // namespace fileserver
