// LOCK and UNLOCK (RFC 4918, sections 9.10 and 9.11), with --uploads folder.
#pragma once

#include "fileserver/http/handler.h"

namespace fileserver::dav {

// With a body: 200 and a new lock, or 201 if a new, empty file has the name. 423 if another lock
// is in the way, 503 if there are too many. Without a body: 200, and a lock whose token is in If
// has a new end. After any other answer nothing is locked.
void lock(Exchange& exchange, Parts& parts);

// 204. 403 for the lock of another user, 409 if the token is of no lock of the name.
void unlock(Exchange& exchange, Parts& parts);

}  // namespace fileserver::dav
