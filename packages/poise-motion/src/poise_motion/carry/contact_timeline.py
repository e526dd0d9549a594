"""When which part of a body stands, as a picture over time."""

from html import escape
from typing import Final

from poise.extending import Array
from poise_motion.anatomy.contact_schedule import Contacts

_WIDE, _ROW, _LABEL = 400.0, 18.0, 84.0
"""The width of the picture, the height of a row in it, and the width of the names."""
_COLOURS: Final = {"left": "#2f6fde", "right": "#e0643c"}
_GREY: Final = "#888"
_CHOSEN: Final = "#d0417e"


def contact_timeline(
    contacts: Contacts, times: Array, now: float, *, chosen: tuple[str, tuple[float, float]] = ("", (0.0, 0.0))
) -> str:
    """An SVG: for each part a row with a bar while it stands, and a line at `now`, seconds after the first of `times`
    (frames,); of the part that is `chosen` the stretch from one time to another is framed."""
    parts, first = contacts.parts, float(times[0])
    if not parts:
        return "<p>No part stands.</p>"
    span = max(float(times[-1]) - first, 1e-9)
    high = _ROW * len(parts)

    def across(time: float) -> float:
        return _LABEL + (_WIDE - _LABEL) * min(max((time - first) / span, 0.0), 1.0)

    out = [
        '<div style="padding: 0 10px"><svg xmlns="http://www.w3.org/2000/svg" '
        f'viewBox="0 0 {_WIDE:g} {high + 14:g}" width="100%" '
        f'font-family="sans-serif" font-size="10" fill="{_GREY}">'
    ]
    for row, part in enumerate(parts):
        top = _ROW * row
        out.append(f'<text x="0" y="{top + 13:g}">{escape(part.replace("_", " "))}</text>')
        out.append(f'<rect x="{_LABEL:g}" y="{top + 8.5:g}" width="{_WIDE - _LABEL:g}" height="1" opacity="0.4"/>')
        for one in contacts.intervals:
            if one.part == part:
                left, right = across(float(times[one.start])), across(float(times[min(one.stop, len(times) - 1)]))
                raised = "" if one.ground == 0.0 else f", {1e2 * one.ground:.0f} cm above the ground"
                firm = "" if one.hold is None else f", held {one.hold}"
                out.append(
                    f'<rect x="{left:.1f}" y="{top + 3:g}" width="{max(right - left, 1.0):.1f}" height="12" rx="2" '
                    f'fill="{_COLOURS.get(part.split("_")[0], _GREY)}"><title>{times[one.start] - first:.2f} to '
                    f"{times[one.stop - 1] - first:.2f} s{raised}{firm}</title></rect>"
                )
        if part == chosen[0]:
            left, right = (across(first + end) for end in chosen[1])
            out.append(
                f'<rect x="{left:.1f}" y="{top + 1:g}" width="{max(right - left, 1.0):.1f}" height="16" rx="3" '
                f'fill="{_CHOSEN}" fill-opacity="0.15" stroke="{_CHOSEN}"/>'
            )
    at = across(first + now)
    out.append(f'<line x1="{at:.1f}" y1="0" x2="{at:.1f}" y2="{high:g}" stroke="{_CHOSEN}" stroke-width="1.5"/>')
    out.append(f'<text x="{_LABEL:g}" y="{high + 11:g}">0 s</text>')
    out.append(f'<text x="{_WIDE:g}" y="{high + 11:g}" text-anchor="end">{span:.1f} s</text></svg></div>')
    return "".join(out)
