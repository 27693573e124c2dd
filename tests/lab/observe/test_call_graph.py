"""Stacks from the file of callgrind."""

import unittest

from lab.observe.call_graph import Frame, short_name, stacks

# main calls work twice and pass once; pass hands all on to work, which calls leaf and itself.
PROFILE = """\
# callgrind format
positions: line
events: Ir
summary: 800

fl=(1) main.cpp
fn=(1) main
3 100
cfn=(2) base::work(int)
calls=2 10
4 400
cfn=(3) pass
calls=1 20
+1 300

fn=(2)
10 551
cfn=(5) leaf
calls=3 30
10 139
cfn=(4) base::work(int)'2
calls=1 10
11 5

fn=(4)
10 5

fn=(3)
20 5
cfn=(2)
calls=1 10
* 295

fn=(5)
30 139
"""


class StacksTest(unittest.TestCase):
    def test_what_a_function_took_is_shared_out_among_its_callers(self):
        (main,) = stacks(PROFILE.replace("pass", "net::pass"), 0.01)
        self.assertEqual((main.name, main.share), ("main", 1))
        work, passes = main.called
        self.assertEqual((work.name, work.share), ("base::work", 0.5))
        self.assertEqual((passes.name, passes.share), ("net::pass", 0.375))
        (passed,) = passes.called
        self.assertEqual((passed.name, passed.share), ("base::work", 295 / 800))
        for caller in (work, passed):
            self.assertEqual([each.name for each in caller.called], ["leaf"])
            self.assertAlmostEqual(caller.called[0].share, 0.2 * caller.share)

    def test_a_library_that_only_passes_on_is_left_out(self):
        (main,) = stacks(PROFILE, 0.01)
        self.assertEqual([frame.name for frame in main.called], ["base::work", "base::work"])

    def test_nothing_below_the_least_share(self):
        self.assertEqual(stacks(PROFILE, 0.4), (Frame("base::work", 0.5),))

    def test_names_without_parameters_results_and_templates(self):
        for function, name in {
            "0x00000000000d4490": "(no name)",
            "fileserver::Fence::open(std::string const&) const": "fileserver::Fence::open",
            "base::Result<int> net::(anonymous namespace)::ask<A<B> >(int)": "net::ask",
            "wire::line_of[abi:cxx11](wire::Auth const&)": "wire::line_of",
            "operator new(unsigned long)": "operator new",
            "std::thread::_State_impl<A<int> >::_M_run()": "std::thread::_State_impl::_M_run",
        }.items():
            with self.subTest(function=function):
                self.assertEqual(short_name(function), name)
