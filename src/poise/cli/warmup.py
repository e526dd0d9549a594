"""`poise warmup`: compile the kernels before they are needed."""

import time

from poise.cli.command import Answer, Answers, command


@command
class Warmup(Answers):
    """Compile every kernel for this CPU and keep it on disk, so that no later solve waits for it."""

    def run(self) -> Answer:
        """Compile."""
        from poise.cli.output import say
        from poise.common.progress import bar, on_terminal
        from poise.kernels.machine.notice import NOTICE
        from poise.solving.solvers.warmup import compile_all

        begin = time.perf_counter()
        # Lines tell of it where there is no terminal for a bar.
        compile_all((lambda count: bar("kernels", count, shown=True)) if on_terminal() else None)
        seconds = time.perf_counter() - begin
        spent = f"{NOTICE.compiled} compiled, {NOTICE.seconds:.0f} s of processor time"
        line = f"kernels ready in {seconds:.1f} s: {spent}"
        return Answer(
            facts={"time": seconds, "processor_time": NOTICE.seconds, "compiled": NOTICE.compiled},
            show=lambda: say(line),
            explanation=f"{line}. No solve of this version on this machine compiles anything from here on.",
        )
