// GET and HEAD of files and folders.
#pragma once

#include "fileserver/http/handler.h"

namespace fileserver {

void get_file(Exchange& exchange, Parts& parts);

// Answers as get_file() does when there is nothing of the name, without a look.
void get_nothing(Exchange& exchange, Parts& parts);

}  // namespace fileserver
