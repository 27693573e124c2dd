"""Charts: nothing leaves the canvas, no text covers another one, and places follow the values."""

import unittest
import xml.etree.ElementTree as ElementTree

import drawings

from lab.observe.call_graph import Frame
from lab.report.charts import dot_plot, flame_graph, line_chart, palette, scales, stacked_bars, svg
from lab.report.charts.dot_plot import Panel, Row
from lab.report.charts.line_chart import Axes, Cross, Curve, Point
from lab.report.charts.stacked_bars import Bar, Part
from lab.report.charts.svg import Canvas

ROWS = [
    Row(label="new", value=95.0, low=69.0, high=114.0, paper=23_090.0, note="95.0"),
    Row(label="100MB", value=66.5, low=1.2, high=89.1, paper=1.14, note="66.5", is_open=True),
    Row(label="1KB", value=37_209.0, low=-5.0, high=49_472.0, note="37,209", is_hollow=True),
    Row(label="10KB", paper=9.9),
]
FLAME = Frame("main", 0.9, (Frame("net::send", 0.6, (Frame("a" * 90, 0.1),)), Frame("x", 0.3)))


def bars(scale: float = 1.0) -> list[Bar]:
    def bar(label: str, *times: float) -> Bar:
        names = zip(("store", "auth", "files", "load"), palette.COMPONENTS, times)
        parts = [Part(name, colour, scale * time) for name, colour, time in names]
        total = scale * sum(times)
        return Bar(label, parts, f"{total:,.0f} µs", Part("disk", "disk", total / 3))

    return [
        bar("turnstile-keepalive", 0.0, 19_000.0, 60.0, 40.0),
        bar("ph2", 350.0, 650.0, 180.0, 60.0),
        bar("redis", 40.0, 130.0, 100.0, 60.0),
        bar("nothing", 0.0, 0.0, 0.0, 0.0),
    ]


def chart() -> Canvas:
    curves = [
        Curve(
            name=name,
            colour="stage0",
            points=[
                Point(2**index, rate, 0.4 * rate, 2 * rate) for index, rate in enumerate(rates)
            ],
            hollow=[line_chart.point(16, 4.0)],
            knee=4,
        )
        for name, rates in (
            ("turnstile-keepalive", (900.0, 1500.0, 2000.0)),
            ("turnstile", (901.0, 1490.0, 2010.0)),
        )
    ]
    values = [point.high for one in curves for point in one.points if point]
    axes = Axes(
        x_low=1.0,
        x_high=900.0,
        y_values=[*values, 300.0, 4.0],
        x_base=2,
        is_y_logarithmic=True,
        x_title="N",
    )
    return line_chart.draw("1KB: turnstile", curves, axes, crosses=[Cross(800, 300.0)])


def all_charts() -> dict[str, Canvas]:
    made = bars()
    plots = dot_plot.draw([Panel("multithreaded → prefetching", ROWS)], "gain", 1.0)
    long_name = (
        "fileserver::AuthAddresses::in_order_of_trial(std::vector<net::Address> const&, int)"
    )
    return {
        "dots": plots[0],
        "bars": stacked_bars.draw("get 1KB", made, *stacked_bars.widths(made), "CPU time"),
        "key": stacked_bars.key(
            [("load generator", "loadgen"), ("fileserver", "fileserver")], ("busiest disk", "disk")
        ),
        "lines": chart(),
        "named": stacked_bars.draw_named(
            "Share", [(long_name, 0.5, "50%"), ("main", 0.01, "1%")], 0.5, "fileserver"
        ),
        "flames": flame_graph.draw("Calls", [FLAME, Frame("libc", 0.1)], "fileserver"),
        "empty": line_chart.draw("t", [], Axes(x_low=0.0, x_high=0.0, y_values=[])),
    }


class EveryChartTest(unittest.TestCase):
    def test_nothing_is_drawn_outside(self):
        for name, canvas in all_charts().items():
            with self.subTest(name):
                self.assertEqual(drawings.outside(canvas), [])

    def test_no_text_covers_another_one(self):
        for name, canvas in all_charts().items():
            with self.subTest(name):
                self.assertEqual(drawings.overlapping(canvas), [])

    def test_the_same_values_give_the_same_bytes(self):
        once, again = all_charts(), all_charts()
        for name, canvas in once.items():
            self.assertEqual(canvas.element(), again[name].element())

    def test_there_are_no_ids_and_no_colours_but_those_of_the_palette(self):
        for name, canvas in all_charts().items():
            with self.subTest(name):
                text = canvas.element()
                self.assertNotIn("id=", text)
                self.assertNotIn("#", text.replace("&#", ""))
                for element in drawings.elements(canvas):
                    for kind in element.get("class", "").split():
                        if kind.startswith("c-"):
                            self.assertIn(kind[2:], {*palette.COLOURS, "ground"})

    def test_a_screen_reader_says_the_title(self):
        root = ElementTree.fromstring(Canvas(10, 10, "a < b").element())
        self.assertEqual((root.get("role"), root.get("aria-label")), ("img", "a < b"))
        self.assertEqual(root.findtext("title"), "a < b")


class SvgTest(unittest.TestCase):
    def test_the_overlap_of_two_texts_is_seen(self):
        canvas = Canvas(100, 40, "t")
        canvas.text(10, 20, "one text")
        canvas.text(30, 20, "another")
        self.assertEqual(drawings.overlapping(canvas), [("one text", "another")])

    def test_a_text_that_leaves_the_canvas_is_seen(self):
        canvas = Canvas(100, 40, "t")
        canvas.text(90, 20, "one text")
        self.assertEqual(drawings.outside(canvas), ["one text"])

    def test_an_undefined_place_interrupts_a_line(self):
        canvas = Canvas(10, 10, "t")
        canvas.path([(0, 0), (1, 1.25), None, (2, 2), (3, 3)], "c-ink")
        self.assertIn('d="M0 0L1 1.2M2 2L3 3"', canvas.element())

    def test_a_file_has_its_style_for_light_and_dark_and_all_canvases(self):
        text = svg.file("T", [Canvas(100, 30, "a"), Canvas(100, 40, "b"), Canvas(90, 20, "c")], 2)
        root = ElementTree.fromstring(text.encode())
        self.assertEqual(root.get("viewBox"), "0 0 214 74")
        self.assertIn("prefers-color-scheme: dark", text)
        self.assertIn('x="114"', text)
        self.assertEqual(text.count("<svg"), 4)

    def test_the_key_of_a_figure_has_a_row_for_itself(self):
        key, one = Canvas(50, 10, "k", is_key=True), Canvas(100, 30, "a")
        root = ElementTree.fromstring(svg.file("T", [key, one, one], 3).encode())
        self.assertEqual(root.get("viewBox"), "0 0 214 54")


class PaletteTest(unittest.TestCase):
    def test_no_colour_has_two_meanings(self):
        for is_dark in (0, 1):
            used = [both[is_dark] for both in palette.COLOURS.values()]
            self.assertEqual(len(used), len(set(used)))

    def test_a_component_that_is_not_known_has_a_colour(self):
        self.assertIn(palette.of_component("proftpd"), palette.COLOURS)


class ScaleTest(unittest.TestCase):
    def test_ends_and_middle(self):
        linear = scales.Scale(0.0, 10.0, 100.0, 200.0)
        self.assertEqual([linear.at(value) for value in (0, 5, 10)], [100, 150, 200])
        powers = scales.Scale(1.0, 100.0, 0.0, 200.0, True)
        self.assertAlmostEqual(powers.at(10), 100)

    def test_a_value_that_is_not_within_is_an_error(self):
        with self.assertRaises(AssertionError):
            scales.Scale(0.0, 10.0, 100.0, 200.0).at(11)

    def test_ticks_are_round_and_within(self):
        for low, high, is_logarithmic, ticks in (
            (0.0, 37.0, False, [0, 10, 20, 30]),
            (0.0, 0.9, False, [0, 0.2, 0.4, 0.6, 0.8]),
            (0.4, 12.0, True, [0.5, 1, 2, 5, 10]),
            (0.9, 30_000.0, True, [1, 10, 100, 1000, 10_000]),
            (1100.0, 1900.0, True, [1200, 1400, 1600, 1800]),
        ):
            with self.subTest(high=high):
                scale = scales.Scale(low, high, 0.0, 1.0, is_logarithmic)
                self.assertEqual(scale.ticks(), ticks)

    def test_a_tick_just_outside_of_a_logarithmic_axis_is_none(self):
        scale = scales.Scale(18.7623896, 49.999314999999996, 0, 100, True)
        self.assertNotIn(50, scale.ticks(4))
        for tick in scale.ticks(4):
            self.assertTrue(0 <= scale.at(tick) <= 100)

    def test_short_numbers(self):
        self.assertEqual(
            [scales.short(value) for value in (0.5, 20, 1500, 2e6)], ["0.5", "20", "1.5k", "2M"]
        )


class DotPlotTest(unittest.TestCase):
    def panels(self) -> list[Canvas]:
        rows = [Row(label="a", value=10.0, low=8.0, high=12.0, paper=23_090.0)]
        return dot_plot.draw([Panel("one", rows), Panel("two", ROWS)], "requests/s")

    def test_the_papers_value_is_within_the_axis_however_far_it_is(self):
        for paper in (23_090.0, 0.1):
            row = Row(label="a", value=10.0, low=8.0, high=12.0, paper=paper)
            (canvas,) = dot_plot.draw([Panel("one", [row])], "requests/s")
            self.assertEqual(drawings.outside(canvas), [])
            marks = [one for one in drawings.elements(canvas) if "c-paper" in one.get("class", "")]
            self.assertEqual(len(marks), 1)

    def test_all_panels_have_the_same_axis(self):
        first, second = self.panels()
        ticks = [
            [
                (text.words, text.left)
                for text in drawings.texts(canvas)
                if text.words in ("1", "10k")
            ]
            for canvas in (first, second)
        ]
        self.assertEqual(ticks[0], ticks[1])
        self.assertEqual(len(ticks[0]), 2)

    def test_a_papers_value_outside_our_interval_makes_a_hollow_dot(self):
        dots = {
            is_hollow: [
                one.get("class")
                for one in drawings.elements(
                    dot_plot.draw(
                        [Panel("p", [Row(label="a", value=2.0, is_hollow=is_hollow)])], "gain"
                    )[0]
                )
                if one.tag == "circle"
            ]
            for is_hollow in (True, False)
        }
        self.assertEqual(dots, {True: ["o c-ink"], False: ["f c-ink"]})


class StackedBarsTest(unittest.TestCase):
    def test_parts_stand_one_behind_the_other_in_proportion(self):
        made = [Bar("a", [Part("x", "store", 3.0), Part("y", "authserver", 1.0)], "4")]
        canvas = stacked_bars.draw("t", made, 10.0, 10.0, "time")
        first, second = [one for one in drawings.elements(canvas) if one.tag == "rect"]
        widths = [float(one.get("width", "")) for one in (first, second)]
        self.assertAlmostEqual(widths[0] / widths[1], 3, delta=0.01)
        end = float(first.get("x", "")) + widths[0]
        self.assertAlmostEqual(end, float(second.get("x", "")), delta=0.11)

    def test_a_bar_that_is_far_longer_is_broken_off_and_says_its_length(self):
        canvas = stacked_bars.draw("t", bars(), 100.0, 60.0, "time")
        gaps = [one for one in drawings.elements(canvas) if "c-ground" in one.get("class", "")]
        self.assertEqual(len(gaps), 2)
        self.assertIn("19,100 µs", drawings.words(canvas))

    def test_a_part_has_its_name_only_where_it_has_room(self):
        made = [Bar("a", [Part("wide", "store", 100.0), Part("narrow", "disk", 1.0)], "")]
        words = drawings.words(stacked_bars.draw("t", made, 10.0, 10.0, "time"))
        self.assertIn("wide", words)
        self.assertNotIn("narrow", words)


class FlameGraphTest(unittest.TestCase):
    def test_a_function_stands_below_its_caller_and_is_as_wide_as_its_share(self):
        boxes = {
            (rect.findtext("title") or "").partition(":")[0]: rect
            for rect in drawings.elements(all_charts()["flames"])
            if rect.tag.endswith("rect")
        }
        x, y, width = (
            {name: float(box.get(of, "")) for name, box in boxes.items()}
            for of in ("x", "y", "width")
        )
        self.assertLess(y["main"], y["net"])
        self.assertEqual(y["net"], y["x"])
        self.assertGreaterEqual(x["x"], x["net"] + width["net"])
        self.assertAlmostEqual(width["main"] / width["x"], 3, delta=0.02)

    def test_ours_have_the_colour(self):
        kinds = [
            element.get("class")
            for element in drawings.elements(all_charts()["flames"])
            if element.tag.endswith("rect")
        ]
        self.assertEqual(kinds.count("f c-fileserver"), 1)


class LineChartTest(unittest.TestCase):
    def test_names_keep_a_distance_and_their_order(self):
        self.assertEqual(line_chart.apart([20.0, 21.0, 22.0], 0.0, 100.0), [20.0, 31.5, 43.0])
        self.assertEqual(line_chart.apart([95.0, 99.0], 0.0, 100.0), [88.5, 100.0])

    def test_the_knee_is_a_diamond_and_what_failed_is_hollow(self):
        found = drawings.elements(chart())
        self.assertEqual(sum((one.get("d") or "").endswith("Z") for one in found), 2)
        self.assertEqual(
            sum(one.tag == "circle" and "o" in one.get("class", "").split() for one in found), 2
        )

    def test_intervals_may_be_a_band_within_the_axes(self):
        values = [Point(x, 10.0, 0.0, 1000.0) for x in (512, 2048)]
        curve = Curve(name="", colour="stage0", points=values, has_band=True)
        axes = Axes(x_low=512, x_high=2048, y_values=[10.0], x_base=2)
        canvas = line_chart.draw("", [curve], axes)
        written = canvas.element()
        self.assertEqual(written.count("f band c-stage0"), 1)
        self.assertNotIn("thin c-stage0", written)
        self.assertIn("1,024", drawings.words(canvas))
