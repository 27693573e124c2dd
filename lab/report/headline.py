"""The title of a report: what was found, after how many points failed if these are many."""

from collections.abc import Sequence

from rig.cores import counted

from ..analysis import passes
from ..analysis.cells import Analysis, CellResult
from ..analysis.gains import Gain
from ..analysis.verdict import CANNOT_TELL, NOT_SATURATED, Verdict
from ..plan import catalog
from ..plan.catalog import row_title
from ..results.environment import Environment
from . import finding_views, wording
from .scene import Scene, Step

_MANY = 0.25  # of all points; so many failed ones are said first
_MOST_LETTERS = 110  # of an answer as a title
_LABEL_OF_GENERATOR = "load generator"
_NO_GAIN_OF_SHARED = "No gain in the CPU time of a request can be told"

Steps = Sequence[tuple[Scene, Step]]


def of_points(
    scenes: Sequence[Scene],
    steps: Steps,
    analysis: Analysis,
    answers: Sequence[str],
    otherwise: str,
) -> str:
    """answers are those of the experiments. otherwise is the title where nothing can be told.
    Requires: there are points.
    """
    if analysis.is_shared and any(scene.measured for scene in scenes):
        return _largest_gain(steps) or _NO_GAIN_OF_SHARED
    found = _largest_gain(steps) or _limit(scenes) or _own_lead(scenes) or _findings(analysis)
    if not found:
        found = _lead(answers) or otherwise
    failed, of = len(analysis.invalid), len(analysis.runs)
    if failed < _MANY * of:
        return found
    said = f"{failed} of {wording.plural(of, 'point')} failed their checks"
    return f"{said}. The others: {found}" if failed < of else said


def without_points(environment: Environment) -> str:
    """Of an experiment that only describes the machine, or only profiles."""
    if environment.profile:
        first = environment.profile.functions[0]
        return f"{first.share:.0%} of the fileserver’s instructions are in {first.function}"
    processor = environment.host.hardware.get("Processor", "an unknown processor")
    return f"The machine: {processor}, {counted(len(environment.cores))}"


def _own_lead(scenes: Sequence[Scene]) -> str:
    return next((lead for scene in scenes if (lead := scene.lead())), "")


def _lead(answers: Sequence[str]) -> str:
    """The main clause of the only sentence, or of the first one about the first files. "" for a
    long one, and where nothing says which of several comes first.
    """
    if not answers:
        return ""
    about, _, rest = answers[0].partition(". ")
    if about.startswith("Files of "):
        said = f"{about}: {rest.partition('. ')[0]}"
    else:
        said = answers[0] if len(answers) == 1 else ""
    clause = said.partition(";")[0].removesuffix(".")
    return clause if len(clause) <= _MOST_LETTERS and ". " not in clause else ""


def _findings(analysis: Analysis) -> str:
    """How the paper's findings stand. "" where none could be told."""
    told = [
        verdicts.pop() if len(verdicts) == 1 else passes.CANNOT_TELL
        for _, _, judged in finding_views.all_judged(analysis)
        if (verdicts := {one.verdict for one in judged})
    ]
    seen, not_seen = told.count(passes.SEEN), told.count(passes.NOT_SEEN)
    if not seen and not not_seen:
        return ""
    other = len(told) - seen - not_seen
    of = f"Of {wording.plural(len(told), 'finding')} of the paper,"
    rest = f", and {other} cannot be told" if other else ""
    return f"{of} {seen} {'is' if seen == 1 else 'are'} seen here, {not_seen} not{rest}"


def _largest_gain(steps: Steps) -> str:
    """ "" where no gain is surely above 1."""
    sure = [
        (gain, scene, step, row)
        for scene, step in steps
        for row in scene.rows
        if (gain := scene.gain(step, row)) and _is_sure(gain) and scene.result(step[1], row)
    ]
    if not sure:
        return ""
    gain, scene, step, row = max(sure, key=lambda one: one[0].spread.median)
    result = scene.result(step[1], row)
    assert result  # see above
    which = f" at {row_title(row)}, the largest of {len(sure)} sure gains" if len(sure) > 1 else ""
    if scene.analysis.is_shared:
        return (
            f"{step[1].name}: the CPU time of a request is {gain.spread.median:.2f} times less "
            f"than in {step[0].name}{which}"
        )
    return f"{step[1].name}: {wording.times(gain.spread.median)}{which}, {_limited(result.verdict)}"


def _is_sure(gain: Gain) -> bool:
    return gain.spread.is_interval and gain.spread.low > 1 and not gain.is_lower_bound


def _limit(scenes: Sequence[Scene]) -> str:
    """Of the last stage, at the smallest file. "" where the rule names nothing."""
    told = [
        (result, stage.name, row)
        for scene in scenes
        for stage in scene.stages
        for row in scene.rows
        if (result := scene.result(stage, row)) and _is_told(result)
    ]
    if not told:
        return ""
    last = catalog.in_order([stage for _, stage, _ in told])[-1]
    result, stage, row = next(one for one in told if one[1] == last)
    return f"{stage}, {row_title(row)}: {_limited(result.verdict)}"


def _is_told(result: CellResult) -> bool:
    return bool(result.verdict.named) or result.verdict.label == _LABEL_OF_GENERATOR


def _limited(verdict: Verdict) -> str:
    if verdict.label == NOT_SATURATED:
        return "and throughput still rose at the last N"
    if verdict.label == CANNOT_TELL:
        return "and what limits it cannot be told"
    if not verdict.alike:
        known = verdict.label == _LABEL_OF_GENERATOR
        return (
            f"limited by the {verdict.label}" if known else "limited by nothing that was measured"
        )
    names = [_noun(one.name) for one in verdict.alike]
    return f"limited by {' or '.join(names)}"


def _noun(name: str) -> str:
    """The name of a resource within a sentence."""
    if name == "shared CPU":
        return "the CPU that all share"
    return f"the {name}" if name.startswith("CPU") else name
