"""`poise warmup`: compile the kernels before they are needed."""

import time

from poise.cli.command import command


@command
class Warmup:
    """Compile every kernel for this CPU and keep it on disk, so that no later solve waits for it."""

    json: bool = False
    """Print one line of JSON."""

    def run(self) -> int:
        """Compile and print how long it took."""
        from poise.cli.output import print_json, say
        from poise.kernels.machine.notice import NOTICE
        from poise.progress import bar, on_terminal
        from poise.solving.warmup import compile_all

        begin = time.perf_counter()
        # Lines tell of it where there is no terminal for a bar.
        compile_all((lambda count: bar("kernels", count, shown=True)) if on_terminal() else None)
        seconds = time.perf_counter() - begin
        if self.json:
            print_json({"time": seconds, "processor_time": NOTICE.seconds, "compiled": NOTICE.compiled})
        else:
            spent = f"{NOTICE.compiled} compiled, {NOTICE.seconds:.0f} s of processor time"
            say(f"kernels ready in {seconds:.1f} s: {spent}")
        return 0
