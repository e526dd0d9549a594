"""`poise cite`: whom to thank."""

from tyro.conf import Positional

from poise.cli.command import Answer, Answers, command


@command
class Cite(Answers):
    """Print the BibTeX of a method, a damping rule, an experiment or a key; without a name, list what can be cited."""

    name: Positional[str] = ""
    """A method (dls, sdls ...), a damping rule (Sugihara ...), an experiment (buss) or a key (buss2004)."""

    def run(self) -> Answer:
        """Look up."""
        from poise.cli.output import print_table, show
        from poise.references import citable, cite, title

        if self.name:
            entries = cite(self.name)
            return Answer(
                facts={"name": self.name, "bibtex": entries},
                show=lambda: show("\n\n".join(entries)),
                explanation=f"These are the papers that {self.name} comes from, as entries of a .bib file.",
            )
        rows = [(name, title(name) if keys == (name,) else ", ".join(keys)) for name, keys in citable().items()]
        return Answer(
            facts={"names": citable()},
            show=lambda: print_table(["name", "cites"], rows),
            explanation="Each name stands beside the keys that it cites; `poise cite NAME` prints their entries.",
        )
