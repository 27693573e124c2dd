"""The figure over time: all that happened is seen, and many points need few bytes."""

import math
import random
import unittest
import xml.etree.ElementTree as ElementTree
from itertools import pairwise

import drawings

from lab.report.charts import over_time, svg, thinning
from lab.report.charts.line_chart import Mark
from lab.report.charts.over_time import Average, Axis, Line, Panel, Span
from lab.report.charts.scales import Scale
from lab.report.charts.svg import Canvas

END_S = 4200.0


def times(count: int) -> list[float]:
    return [END_S * index / count for index in range(count)]


def line(name: str, colour: str, count: int = 200, **changes) -> Line:
    source = random.Random(name)
    values = [100 + 20 * math.sin(index * 6 / count) + source.gauss(0, 8) for index in range(count)]
    made = {"times_s": times(count), "values": values, **changes}
    return Line(name=name, colour=colour, **made)


def averaged(name: str, colour: str, count: int) -> Line:
    made = line(name, colour, count)
    smooth = [100 + 20 * math.sin(index * 6 / count) for index in range(count)]
    averages = (
        Average("mean of 60 points", [None, *smooth[2:], None]),
        Average("mean of 60 s", [None, *(value + 3 for value in smooth[2:]), None]),
    )
    return line(name, colour, count, values=made.values, averages=averages)


def figure(count: int = 400) -> Canvas:
    """Like figure 6 of paper 003."""
    panels = [
        Panel(
            Axis("requests under way", [averaged("load", "ink", count)]),
            Axis("MiB/s", [averaged("throughput", "stage1", count)]),
        ),
        Panel(
            Axis("s", [averaged("response time", "fileserver", count)]),
            Axis("%", [line("CPU", "user", count, changes=[1500.0])]),
        ),
        Panel(
            Axis("MiB", [line("memory", "store", count), line("swap", "authserver", count)]),
            None,
        ),
    ]
    marks = [Mark(900.0, "link 0: 1.5 Mbit/s"), Mark(930.0, "link 1: 1.5 Mbit/s")]
    return over_time.draw(
        "One run over time", panels, end_s=END_S, marks=marks, plateau=Span(1800, 2400, "plateau")
    )


def alone(one: Line, **changes) -> Canvas:
    return over_time.draw("One", [Panel(Axis("ms", [one]))], end_s=END_S, **changes)


def of_class(canvas: Canvas, name: str) -> list[ElementTree.Element]:
    return [one for one in drawings.elements(canvas) if name in one.get("class", "").split()]


class FigureTest(unittest.TestCase):
    def test_nothing_is_outside_and_no_text_covers_another_one(self):
        canvas = figure()
        self.assertEqual(drawings.outside(canvas), [])
        self.assertEqual(drawings.overlapping(canvas), [])

    def test_each_line_is_named_with_its_unit(self):
        found = drawings.words(figure())
        for name in ("load, requests under way", "throughput, MiB/s", "CPU, %", "swap, MiB"):
            self.assertIn(name, found)

    def test_the_key_names_the_averages_and_what_a_change_is(self):
        found = drawings.words(figure())
        for name in ("mean of 60 points", "mean of 60 s", "points", "change of the mean"):
            self.assertEqual(found.count(name), 1)

    def test_without_averages_and_changes_there_is_no_key(self):
        canvas = alone(line("times", "ink"))
        self.assertNotIn("points", drawings.words(canvas))
        self.assertLess(canvas.height, alone(averaged("times", "ink", 200)).height)

    def test_events_and_the_plateau_have_names_and_places(self):
        found = {one.words: one for one in drawings.texts(figure())}
        x = Scale(0.0, END_S, 40.0, 600.0)
        self.assertAlmostEqual(found["plateau"].left, x.at(1800.0) + 2, delta=0.2)
        self.assertAlmostEqual(found["link 0: 1.5 Mbit/s"].left, x.at(900.0) + 2, delta=0.2)
        self.assertGreater(found["link 1: 1.5 Mbit/s"].top, found["link 0: 1.5 Mbit/s"].top)
        (band,) = (one for one in drawings.elements(figure()) if one.tag == "rect")
        self.assertAlmostEqual(float(band.get("x", "")), x.at(1800.0), delta=0.1)
        self.assertAlmostEqual(float(band.get("width", "")), x.at(2400.0) - x.at(1800.0), delta=0.1)

    def test_events_that_have_no_room_for_a_name_are_still_drawn(self):
        marks = [Mark(1000.0 + 10 * index, f"tester {index} was lost") for index in range(30)]
        canvas = alone(line("times", "ink"), marks=marks)
        self.assertEqual(drawings.overlapping(canvas), [])
        self.assertEqual(drawings.outside(canvas), [])
        self.assertEqual(len(of_class(canvas, "dash")), 30)
        self.assertEqual(sum("was lost" in word for word in drawings.words(canvas)), 3)

    def test_a_long_title_has_two_lines(self) -> None:
        line = Line(name="a", colour="ink", times_s=[1.0], values=[1.0])
        long = "clients that come one by one, and leave in the same order; "
        for title, wanted in (
            (f"{long}links that were capped by their owners at night get faster", 2),
            ("short; end", 1),
        ):
            canvas = over_time.draw(title, [Panel(Axis("ms", [line]))], end_s=END_S)
            bold = [one for one in drawings.elements(canvas) if one.get("class") == "b"]
            self.assertEqual(len(bold), wanted)
            self.assertEqual(drawings.overlapping(canvas), [])
            self.assertEqual(drawings.outside(canvas), [])

    def test_the_name_of_a_late_event_stays_within(self):
        canvas = alone(line("times", "ink"), marks=[Mark(END_S, "all testers of the cluster end")])
        self.assertEqual(drawings.outside(canvas), [])

    def test_an_average_may_be_above_all_points(self):
        high = line("times", "ink", values=[1.0] * 200, averages=[Average("mean", [50.0] * 200)])
        self.assertEqual(drawings.outside(alone(high)), [])

    def test_a_change_is_a_line_and_a_diamond_at_its_time(self):
        canvas = alone(line("times", "ink", changes=[2100.0]))
        (dots,) = of_class(canvas, "dots")
        self.assertIn("M320 ", dots.get("d", ""))

    def test_a_screen_reader_says_the_lines(self):
        canvas = figure()
        spoken = "One run over time: load, throughput, response time, CPU, memory, swap"
        self.assertEqual(ElementTree.fromstring(canvas.element()).get("aria-label"), spoken)

    def test_it_is_drawn_over_the_whole_width(self):
        self.assertTrue(figure().is_wide)

    def test_the_right_axis_has_its_own_scale(self):
        small = line("share", "user", values=[0.5] * 200)
        canvas = over_time.draw(
            "Two", [Panel(Axis("", [line("load", "ink")]), Axis("", [small]))], end_s=END_S
        )
        found = {one.words: one for one in drawings.texts(canvas)}
        self.assertGreater(found["0.4"].left, 600.0)
        self.assertLess(found["100"].right, 40.0)

    def test_the_same_values_give_the_same_bytes(self):
        self.assertEqual(figure().element(), figure().element())


class ManyPointsTest(unittest.TestCase):
    def test_100_000_points_of_each_line_need_few_bytes(self):
        content = svg.file("Many", [figure(100_000)], 1)
        self.assertLess(len(content.encode()), 60_000)
        ElementTree.fromstring(content)

    def test_the_least_and_the_largest_of_a_column_are_kept(self):
        values = [50.0] * 100_000
        values[50_000], values[70_000] = 100.0, 0.0
        canvas = alone(line("times", "ink", 100_000, values=values))
        (band,) = of_class(canvas, "band")
        places = drawings.places(band)
        heights = [y for _, y in places]
        self.assertAlmostEqual(places[heights.index(min(heights))][0], 320.5, delta=0.6)
        self.assertAlmostEqual(places[heights.index(max(heights))][0], 432.5, delta=0.6)

    def test_few_points_have_no_band(self):
        self.assertEqual(of_class(alone(line("times", "ink", 200)), "band"), [])


class GapTest(unittest.TestCase):
    def test_what_is_not_known_interrupts_the_line(self):
        values = [100.0] * 100 + [None] * 20 + [100.0] * 80
        drawn = of_class(alone(line("times", "ink", values=values)), "c-ink")
        curves = [drawings.places(one) for one in drawn if one.tag == "path"]
        self.assertEqual(len(curves), 2)
        x = Scale(0.0, END_S, 40.0, 600.0)
        self.assertAlmostEqual(curves[0][-1][0], x.at(99 * END_S / 200), delta=0.1)
        self.assertAlmostEqual(curves[1][0][0], x.at(120 * END_S / 200), delta=0.1)

    def test_a_point_alone_between_two_gaps_is_seen(self):
        values = [None] * 100 + [50.0] + [None] * 99
        canvas = alone(line("times", "ink", values=values))
        (curve,) = (one for one in of_class(canvas, "c-ink") if one.tag == "path")
        (left, _), (right, _) = drawings.places(curve)
        self.assertAlmostEqual(right - left, 1.0)

    def test_a_line_without_a_value_is_named(self):
        canvas = alone(line("times", "ink", values=[None] * 200))
        self.assertIn("times, ms", drawings.words(canvas))


class ThinningTest(unittest.TestCase):
    X = Scale(0.0, 10.0, 0.0, 10.0)

    def columns(self, points: list[tuple[float, float | None]]) -> list[list[tuple]]:
        found = thinning.columns([time for time, _ in points], [one for _, one in points], self.X)
        return [[(one.x, one.low, one.mean, one.high) for one in piece] for piece in found]

    def test_points_of_one_column_become_one(self):
        found = self.columns([(1.1, 5.0), (1.2, 2.0), (1.9, 8.0), (3.2, 4.0)])
        self.assertEqual(found, [[(1.5, 2.0, 5.0, 8.0), (3.2, 4.0, 4.0, 4.0)]])

    def test_a_gap_begins_a_new_piece(self):
        found = self.columns([(1.0, 5.0), (2.0, None), (3.0, 4.0), (3.5, math.inf), (4.5, 1.0)])
        self.assertEqual([len(piece) for piece in found], [1, 1, 1])

    def test_a_gap_within_a_column_is_not_seen(self):
        self.assertEqual(self.columns([(1.1, 5.0), (1.2, None), (1.3, 7.0)]), [[(1.5, 5, 6, 7)]])

    def test_nothing_known_is_nothing(self):
        self.assertEqual(self.columns([(1.0, None)]), [])

    def test_a_line_keeps_its_corners_and_loses_what_lies_between(self):
        places = [(float(x), float(min(x, 5))) for x in range(11)]
        self.assertEqual(thinning.simplified(places), [(0, 0), (5, 5), (10, 5)])

    def test_a_simple_line_is_near_all_places(self):
        places = [(float(x), 40 * math.sin(x / 20)) for x in range(300)]
        found = thinning.simplified(places)
        self.assertLess(len(found), 80)
        for (x, y), (later_x, later_y) in pairwise(found):
            for place_x, place_y in places[int(x) : int(later_x) + 1]:
                on_line = y + (later_y - y) * (place_x - x) / (later_x - x)
                self.assertAlmostEqual(on_line, place_y, delta=0.5)

    def test_one_place_or_none(self):
        self.assertEqual(thinning.simplified([]), [])
        self.assertEqual(thinning.simplified([(1.0, 2.0)]), [(1.0, 2.0)])


class FewBytesTest(unittest.TestCase):
    def test_a_curve_has_the_places_of_a_path(self):
        places = [(10.0, 5.0), (10.5, 4.5), (11.0, 4.5), (31.26, 100.0), (32.0, -3.04)]
        canvas = Canvas(40, 100, "")
        canvas.curve(places, "")
        canvas.path(places, "")
        curve, path = (drawings.places(one) for one in drawings.elements(canvas))
        for one, other in zip(curve, path, strict=True):
            self.assertAlmostEqual(one[0], other[0], places=6)
            self.assertAlmostEqual(one[1], other[1], places=6)

    def test_its_bytes_are_few(self):
        canvas = Canvas(40, 100, "")
        canvas.curve([(10.0, 5.0), (10.5, 4.5), (11.5, 4.5)], "")
        self.assertIn('d="M10 5l.5-.5 1 0"', canvas.element())
        canvas.area([(1.0, 2.0)], "")
        self.assertIn('d="M1 2z"', canvas.element())

    def test_roundings_do_not_add_up(self):
        canvas = Canvas(40, 100, "")
        canvas.curve([(index / 30, 0.0) for index in range(901)], "")
        (curve,) = drawings.elements(canvas)
        self.assertAlmostEqual(drawings.places(curve)[-1][0], 30.0)
