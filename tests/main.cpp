// Version 2 of Catch2 makes the main function in the file that asks for it; version 3 brings a
// library with one.
#if !__has_include(<catch2/catch_all.hpp>)
#define CATCH_CONFIG_MAIN
#include <catch2/catch.hpp>
#endif
