#include "loadgen/drivers/driver.h"
#include "loadgen/drivers/native.h"

namespace loadgen {

std::unique_ptr<Driver> make_driver(const Config& config) {
  return std::make_unique<NativeDriver>(config.request, config.is_pipelined);
}

}  // namespace loadgen
