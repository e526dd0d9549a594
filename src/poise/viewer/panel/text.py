"""Text for the panel."""


def plain(text: str) -> str:
    """Text in which no character means anything to Markdown."""
    return "".join(f"\\{c}" if c in r"\`*_{}[]<>#|~" else c for c in text)
