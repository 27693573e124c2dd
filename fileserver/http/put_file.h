// PUT: a file for the served folder, or bytes that are only counted.
#pragma once

#include "fileserver/http/handler.h"

namespace fileserver {

// --uploads folder. 201 or 204 once the file is on disk and served. After any other answer the
// folder is as it was.
void put_file(Exchange& exchange, Parts& parts);

// --uploads sink.
void put_nowhere(Exchange& exchange, Parts& parts);

}  // namespace fileserver
