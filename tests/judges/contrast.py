"""How well texts of a page can be read."""

import json

READABLE = 4.5
# The contrast of each text with the page, as WCAG 2.2 defines it, and how light the
# page is. All opacities count.
_CONTRASTS = """(() => {
  const parts = text => text.match(/[\\d.]+/g).map(Number);
  const page = document.createElement("p");
  page.style.backgroundColor = "Canvas";
  document.body.append(page);
  const ground = parts(getComputedStyle(page).backgroundColor);
  page.remove();
  const light = color => color.slice(0, 3).map(value => value / 255)
    .map(value => value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4)
    .reduce((sum, value, at) => sum + value * [0.2126, 0.7152, 0.0722][at], 0.05);
  const opacity = node => node.parentElement
    ? getComputedStyle(node).opacity * opacity(node.parentElement) : 1;
  const contrast = node => {
    const [text, part] = [parts(getComputedStyle(node).color), opacity(node)];
    const seen = text.map((value, at) => value * part + ground[at] * (1 - part));
    const [low, high] = [light(seen), light(ground)].sort((a, b) => a - b);
    return high / low;
  };
  return [light(ground), ...[...document.querySelectorAll(SELECTOR)].map(contrast)];
})()"""


def contrasts(selector: str) -> str:
    """An expression: how light the page is, then the contrast of all that the selector means."""
    return _CONTRASTS.replace("SELECTOR", json.dumps(selector))
