"""`poise cite`: whom to thank."""

from tyro.conf import Positional

from poise.cli.command import command


@command
class Cite:
    """Print the BibTeX of a method, a damping rule, an experiment or a key; without a name, list what can be cited."""

    name: Positional[str] = ""
    """A method (dls, sdls ...), a damping rule (Sugihara ...), an experiment (buss) or a key (buss2004)."""
    json: bool = False
    """Print one line of JSON."""

    def run(self) -> int:
        """Look up and print."""
        from poise.cli.output import print_json, print_table, show
        from poise.references import citable, cite, title

        if self.name:
            entries = cite(self.name)
            if self.json:
                print_json({"name": self.name, "bibtex": entries})
            else:
                show("\n\n".join(entries))
        elif self.json:
            print_json({"names": citable()})
        else:
            rows = [(name, title(name) if keys == (name,) else ", ".join(keys)) for name, keys in citable().items()]
            print_table(["name", "cites"], rows)
        return 0
