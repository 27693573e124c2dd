"""Allocations that fail while MariaDB or Redis is asked."""

from scarce_memory_scene import ScarceMemoryScene


class ScarceMemoryOfServersTest(ScarceMemoryScene):
    def test_each_allocation_of_a_request_may_fail(self) -> None:
        self.each_allocation_of_a_request_fails(*self.kinds)

    def test_an_allocation_of_a_change_by_hand_may_fail(self) -> None:
        self.allocations_of_a_change_fail(*self.kinds)
