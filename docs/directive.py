"""`{live} panda` in a page: what `live.py` has written, at work there."""

from docutils import nodes
from docutils.parsers.rst import Directive


class Live(Directive):
    """`{live} panda`: a robot, or, on the page of a method, that method."""

    required_arguments = 1

    def run(self) -> list[nodes.Node]:
        """The element, and what it loads."""
        name, page = self.arguments[0], self.state.document.settings.env.docname
        root = "../" * page.count("/") + "_static/live"
        method = name.startswith("method_")
        loaded = vars(self.state.document).setdefault("live_scripts", set())
        scripts = [one for one in ("poise", *(["method"] if method else []), name) if one not in loaded]
        loaded.update(scripts)
        shown = f"poise.method(place, poise.{name})"
        if not method:
            shown = f'poise.show(place.appendChild(document.createElement("canvas")), poise.{name})'
        return [
            nodes.raw(
                "",
                f'<link rel="stylesheet" href="{root}/live.css"><div class="live" id="{name}"></div>\n'
                + "".join(f'<script src="{root}/{script}.js"></script>\n' for script in scripts)
                + f'<script>{{ const place = document.getElementById("{name}"); {shown}; }}</script>',
                format="html",
            )
        ]
