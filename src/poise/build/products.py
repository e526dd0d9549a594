"""A product and sum as IR, for a CPU without an instruction for it: LLVM would call a C library's.

There are two.  One is rounded once, as by the instruction.  The other, of a third of the operations, is so where the
rounded product and the third number cancel, which is all that `sincos` needs of it, and elsewhere it is within a unit
and a half in the last place.
"""

from typing import Final

_WIDTHS: Final = (("double", "i64", 1, "f64"), ("<8 x double>", "<8 x i64>", 8, "v8f64"))

# The exact product of Dekker 1971, u + l = a b, but for products beyond 1e299 and below 1e-290.
_PRODUCT: Final = """
define internal {real} @product.{name}({real} %a, {real} %b, {real} %c) alwaysinline {{
{split_a}{split_b}
  %u = fmul {real} %a, %b
  %p1 = fmul {real} %ah, %bh
  %l1 = fsub {real} %p1, %u
  %p2 = fmul {real} %ah, %bl
  %l2 = fadd {real} %l1, %p2
  %p3 = fmul {real} %al, %bh
  %l3 = fadd {real} %l2, %p3
  %p4 = fmul {real} %al, %bl
  %l = fadd {real} %l3, %p4
{sum}
  ret {real} %sum
}}
"""
_NEAR: Final = """
  %s = fadd {real} %u, %c
  %sum = fadd {real} %s, %l
"""
# Boldo and Melquiond 2008: t + r = c + l, v + e = u + t, and what is left, r + e, is rounded to odd before it is added,
# so that no sum is rounded twice.
_EXACT: Final = """
{sum_t}{sum_v}{sum_z}
  %bits = bitcast {real} %z to {whole}
  %last = and {whole} %bits, {one}
  %odd = icmp ne {whole} %last, {zero}
  %exact = fcmp oeq {real} %z.e, {none}
  %stays = or {truth} %odd, %exact
  %up = fcmp ogt {real} %z.e, {none}
  %positive = fcmp ogt {real} %z, {none}
  %inward = xor {truth} %up, %positive
  %to = select {truth} %inward, {whole} {minus}, {whole} {one}
  %change = select {truth} %stays, {whole} {zero}, {whole} %to
  %changed = add {whole} %bits, %change
  %rest = bitcast {whole} %changed to {real}
  %sum = fadd {real} %v, %rest
"""
_SPLIT: Final = """
  %{x}1 = fmul {real} %{x}, {by}
  %{x}2 = fsub {real} %{x}1, %{x}
  %{x}h = fsub {real} %{x}1, %{x}2
  %{x}l = fsub {real} %{x}, %{x}h
"""
"""Veltkamp's: xh + xl = x, of half the digits each."""
_SUM: Final = """
  %{s} = fadd {real} {a}, {b}
  %{s}.1 = fsub {real} %{s}, {a}
  %{s}.2 = fsub {real} %{s}, %{s}.1
  %{s}.3 = fsub {real} {a}, %{s}.2
  %{s}.4 = fsub {real} {b}, %{s}.1
  %{s}.e = fadd {real} %{s}.3, %{s}.4
"""
"""Knuth's: s + s.e = a + b."""


def with_products(text: str, *, exact: bool) -> str:
    """The IR with functions of its own in place of LLVM's `fma`, each rounded once if they are to be exact."""
    for real, whole, count, name in _WIDTHS:
        intrinsic = f"@llvm.fma.{name}("
        if intrinsic in text:
            lines = [line for line in text.splitlines() if f"declare {real} {intrinsic}" not in line]
            text = "\n".join(lines).replace(intrinsic, f"@product.{name}(") + _product(real, whole, count, name, exact)
    return text


def _product(real: str, whole: str, count: int, name: str, exact: bool) -> str:
    def all_of(kind: str, number: str) -> str:
        return number if count == 1 else f"<{', '.join([f'{kind} {number}'] * count)}>"

    by = all_of("double", "134217729.0")
    sums = {"t": ("%c", "%l"), "v": ("%u", "%t"), "z": ("%t.e", "%v.e")}
    total = (_EXACT if exact else _NEAR).format(
        real=real,
        whole=whole,
        truth=whole.replace("i64", "i1"),
        none=all_of("double", "0.0"),
        **{word: all_of("i64", number) for word, number in (("zero", "0"), ("one", "1"), ("minus", "-1"))},
        **{f"sum_{s}": _SUM.format(real=real, s=s, a=a, b=b) for s, (a, b) in sums.items()},
    )
    splits = {f"split_{x}": _SPLIT.format(real=real, x=x, by=by) for x in "ab"}
    return _PRODUCT.format(name=name, real=real, sum=total, **splits)
