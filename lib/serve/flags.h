// The flags that both servers have.
#pragma once

#include <string>

#include "flags/option.h"
#include "serve/options.h"

namespace serve {

// Declares --model, --max-connections, --idle-timeout, --drain-seconds, --telemetry-listen, --user,
// and the flag named `spare_name`, which is --spare-threads or --spare-workers. They write into
// `target`, which must outlive flags::parse().
void add_options(flags::App& app, Options& target, const std::string& spare_name);

}  // namespace serve
