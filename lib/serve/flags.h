// The flags that both servers have.
#pragma once

#include <string>

#include "flags/option.h"
#include "serve/options.h"

namespace serve {

// Declares the limits of connections, --telemetry-listen, --user, --debuggable, --model, and the
// flag named `spare_name`, which is --spare-threads or --spare-workers. They write into `target`,
// which must outlive flags::parse(). Each is put into its group.
void add_options(flags::App& app, Options& target, const std::string& spare_name);

// Begin the groups that the servers add flags of their own to.
void group_security(flags::App& app);
void group_to_measure(flags::App& app);

}  // namespace serve
