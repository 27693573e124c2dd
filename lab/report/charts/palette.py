"""Every colour of the figures. One colour has one meaning in all of them.

Hues belong to components. Stages are greens, from the earlier (light) to the later (dark). How a
core spent its time is violet. Requests that failed are red. The paper is grey and what we measured
is ink.
"""

# name -> (in light mode, in dark mode)
COLOURS = {
    "ink": ("#1c2430", "#e4e8ee"),
    "soft": ("#5b6675", "#9aa6b5"),
    "line": ("#dde3ea", "#333c48"),
    "paper": ("#8b94a0", "#8b94a0"),
    "fileserver": ("#2f6db5", "#5b9be3"),
    "authserver": ("#e0891c", "#eba044"),
    "store": ("#b8578f", "#d57db0"),
    "loadgen": ("#9c8b72", "#93846e"),
    "disk": ("#7a5230", "#b98b63"),
    "network": ("#17818a", "#49b8c1"),
    "stage0": ("#7fbf98", "#4f8f69"),
    "stage1": ("#12664a", "#8fdcb0"),
    "stage2": ("#7d8c14", "#b9c64f"),
    "user": ("#6a51a3", "#9a86d0"),
    "system": ("#b9aade", "#5f4f92"),
    "wait": ("#e3dcf3", "#40375f"),
    "stolen": ("#c0392b", "#e36a5d"),
    "failed": ("#e3000f", "#ff5c5c"),
}
COMPONENTS = ("store", "authserver", "fileserver", "loadgen")
_OTHER = "loadgen"


def of_component(name: str) -> str:
    """The colour of a component; that of the load generator for one without its own."""
    return name if name in COLOURS else _OTHER


def of_stage(index: int, count: int) -> str:
    """The colour of one of the stages that a panel compares, in their order."""
    return "stage1" if count == 1 else f"stage{min(index, 2)}"


def variables(is_dark: bool) -> str:
    return " ".join(f"--{name}: {both[is_dark]};" for name, both in COLOURS.items())


# How elements look. `f` fills, `l` draws a line, `c-NAME` gives the colour of both.
RULES = "\n".join(
    [
        "svg text { font: 11px 'Helvetica Neue', Arial, 'Liberation Sans', sans-serif; "
        "fill: var(--ink); }",
        "svg text.s { font-size: 9.5px; fill: var(--soft); }",
        "svg text.b { font-weight: 600; }",
        "svg text.f { fill: currentColor; }",
        "svg text.w { font-size: 9.5px; fill: var(--ground, #fff); }",
        "svg .f { fill: currentColor; }",
        "svg .l { fill: none; stroke: currentColor; stroke-width: 1.5; }",
        "svg .thin { stroke-width: 1; }",
        "svg .dots { stroke-width: 1; stroke-dasharray: 1 2.5; }",
        "svg .dash { stroke-width: 1; stroke-dasharray: 4 3; }",
        "svg .faint { opacity: 0.5; }",
        "svg .band { opacity: 0.2; }",
        "svg .o { fill: var(--ground, #fff); stroke: currentColor; }",
        "svg .c-ground { color: var(--ground, #fff); }",
        *(f"svg .c-{name} {{ color: var(--{name}); }}" for name in COLOURS),
    ]
)


def style_of_a_file() -> str:
    """The style inside a figure that stands alone."""
    return (
        f"svg {{ {variables(False)} --ground: #fff; }}\n"
        f"@media (prefers-color-scheme: dark) {{ svg {{ {variables(True)} "
        "--ground: #14181d; } }\n"
        f"{RULES}"
    )
