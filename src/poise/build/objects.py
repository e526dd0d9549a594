"""Machine code from IR: LLVM's passes for one level of instructions, and an object file that calls nobody else."""

import struct
from collections.abc import Iterable, Mapping
from typing import Final

import llvmlite.binding as llvm

from poise.build.products import with_products
from poise.build.targets import Level

_MEMORY: Final = frozenset({"memcpy", "memmove", "memset"})
"""What LLVM calls of its own accord; the library has them."""


def emit(texts: Mapping[str, str], triple: str, level: Level) -> bytes:
    """The object file of modules, each with the symbol that is for others, called `SYMBOL_LEVEL` there.

    What several of them have under one name is there once, so they are of one process: in another, Numba gives that
    name to something else.  Raises ValueError where it would call what no library of ours has.
    """
    module, machine = _module(texts.values(), triple, level)
    for each in (*module.functions, *module.global_variables):
        if not each.is_declaration and each.name not in texts:
            each.linkage = "internal"
    for symbol in texts:
        module.get_function(symbol).name = f"{symbol}_{level.name}"
    made = _made(module, machine)
    called = undefined(made) - _MEMORY
    if called:
        raise ValueError(
            f"{', '.join(texts)} calls {', '.join(sorted(called))}, which is not of the library's own text"
        )
    return made


def undefined(made: bytes) -> set[str]:
    """The names that an object file of ELF calls and does not have; of others the linker tells."""
    if not made.startswith(b"\x7fELF"):
        return set()
    sections = {s.name(): s.data() for s in llvm.ObjectFileRef.from_data(made).sections()}
    names: bytes = sections[b".strtab"]
    entries = struct.iter_unpack("<IBBHQQ", sections[b".symtab"])
    return {names[at : names.index(0, at)].decode() for at, _, _, section, _, _ in entries if at and not section}


def _module(texts: Iterable[str], triple: str, level: Level) -> tuple[llvm.ModuleRef, llvm.TargetMachine]:
    llvm.initialize_all_targets()
    llvm.initialize_all_asmprinters()
    context = llvm.create_context()
    module, *others = (
        llvm.parse_assembly(text if level.fma else with_products(text, exact=level.exact), context) for text in texts
    )
    for other in others:
        module.link_in(other)
    machine = llvm.Target.from_triple(triple).create_target_machine(
        cpu=level.cpu,
        features=level.features,
        opt=3,
        reloc="static" if triple.startswith("wasm") else "pic",
        codemodel="small",
    )
    module.triple, module.data_layout = triple, str(machine.target_data)
    module.verify()
    return module, machine


def _made(module: llvm.ModuleRef, machine: llvm.TargetMachine) -> bytes:
    # As Numba sets them, so that both give the same bits for the same CPU.
    options = llvm.create_pipeline_tuning_options(speed_level=3)
    options.loop_vectorization, options.slp_vectorization = True, False
    builder = llvm.create_pass_builder(machine, options)
    builder.getModulePassManager().run(module, builder)
    return machine.emit_object(module)
