"""Machine code from IR: LLVM's passes for one level of instructions, and an object file that calls nobody else."""

import struct
from typing import Final

import llvmlite.binding as llvm

from poise.build.products import with_products
from poise.build.targets import Level

_MEMORY: Final = frozenset({"memcpy", "memmove", "memset"})
"""What LLVM calls of its own accord; the library has them."""


def emit(text: str, symbol: str, triple: str, level: Level) -> bytes:
    """The object file of a module of which this symbol is for others, called `SYMBOL_LEVEL` there.

    Raises ValueError where it would call what no library of ours has.
    """
    module, machine = _module(text if level.fma else with_products(text), triple, level)
    for each in (*module.functions, *module.global_variables):
        if not each.is_declaration and each.name != symbol:
            each.linkage = "internal"
    module.get_function(symbol).name = f"{symbol}_{level.name}"
    made = _made(module, machine)
    called = undefined(made) - _MEMORY
    if called:
        raise ValueError(f"{symbol} calls {', '.join(sorted(called))}, which is not of the library's own text")
    return made


def undefined(made: bytes) -> set[str]:
    """The names that an object file of ELF calls and does not have; of others the linker tells."""
    if not made.startswith(b"\x7fELF"):
        return set()
    sections = {s.name(): s.data() for s in llvm.ObjectFileRef.from_data(made).sections()}
    names: bytes = sections[b".strtab"]
    entries = struct.iter_unpack("<IBBHQQ", sections[b".symtab"])
    return {names[at : names.index(0, at)].decode() for at, _, _, section, _, _ in entries if at and not section}


def _module(text: str, triple: str, level: Level) -> tuple[llvm.ModuleRef, llvm.TargetMachine]:
    llvm.initialize_all_targets()
    llvm.initialize_all_asmprinters()
    module = llvm.parse_assembly(text, llvm.create_context())
    machine = llvm.Target.from_triple(triple).create_target_machine(
        cpu=level.cpu, opt=3, reloc="pic", codemodel="small"
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
