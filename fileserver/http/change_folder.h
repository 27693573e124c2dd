// Conditions of changes, and what their results are answered with (--uploads folder).
#pragma once

#include "fileserver/files/uploads.h"
#include "fileserver/http/exchange_lines.h"
#include "fileserver/http/still_allowed.h"
#include "http/conditions.h"
#include "http/request_head.h"

namespace fileserver {

class Exchange;
struct Parts;

// Evaluates If-Match and the other conditions of a change. The head must outlive what is returned.
MayChange conditions_of(const http::RequestHead& head, std::int64_t now_s);

// The same for a request without a body, if it is still allowed. Both must outlive what is
// returned.
MayChange conditions_of(Exchange& exchange, StillAllowed& still_allowed);

// Answers what stands beside the enumerator. Requires: not kGoOn.
void answer_change(Exchange& exchange, const Parts& parts, UploadStatus status);

// The same, unless the request was not allowed any more: then it is answered with that.
void answer_change(Exchange& exchange, const Parts& parts, const StillAllowed& still_allowed,
                   UploadStatus status);

}  // namespace fileserver
