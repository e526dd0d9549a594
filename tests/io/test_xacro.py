"""xacro files: their arguments, what is said of those that cannot be expanded, and that xacro is left as it was."""

import os
import re
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support.refusals import refused

from poise.common.errors import ModelError, ModelWarning
from poise.io import load

xacro: Any = pytest.importorskip("xacro")
pytest.importorskip("xacro.substitution_args")  # which is an attribute of it from then on

HEAD = '<robot name="r" xmlns:xacro="http://www.ros.org/wiki/xacro">\n'
ARM = (
    HEAD
    + """<xacro:arg name="length" default="2"/>
<xacro:arg name="tool" default="false"/>
<link name="base"/><link name="tip"/>
<joint name="j" type="continuous"><parent link="base"/><child link="tip"/><origin xyz="0 0 $(arg length)"/></joint>
<xacro:if value="$(arg tool)"><link name="tool"/>
<joint name="t" type="fixed"><parent link="tip"/><child link="tool"/></joint></xacro:if>
</robot>"""
)


def write(folder: Path, inside: str, name: str = "arm.xacro") -> Path:
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(inside if inside.startswith("<robot") else f"{HEAD}{inside}\n</robot>")
    return path


# Arguments -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("value", [3, 3.0, "3", np.int64(3), np.float32(3.0)])
def test_arguments_may_be_numbers_or_text(tmp_path: Path, value: Any) -> None:
    for source in (write(tmp_path, ARM), str(write(tmp_path, ARM)), ARM):
        assert load(source, xacro_args={"length": value}).joint("j").origin.xyz[2] == 3.0


@pytest.mark.parametrize(("value", "links"), [(True, 3), (False, 2), (np.True_, 3), ("true", 3), (0, 2)])
def test_arguments_may_be_true_or_false(tmp_path: Path, value: Any, links: int) -> None:
    assert len(load(write(tmp_path, ARM), xacro_args={"tool": value}).links) == links


def test_arguments_that_the_file_lacks_are_refused_with_the_nearest(tmp_path: Path) -> None:
    path = write(tmp_path, ARM)
    with pytest.raises(ModelError, match=r"arm.xacro: xacro_args has 'lenght', .*; did you mean 'length'\?"):
        load(path, xacro_args={"lenght": 3})
    with pytest.raises(ModelError, match=r"has no <xacro:arg> of that name; it has none"):
        load(write(tmp_path, '<link name="a"/>'), xacro_args={"length": 3})


def test_values_that_xacro_cannot_take_are_refused(tmp_path: Path) -> None:
    path = write(tmp_path, ARM)
    with refused("wrong-type", "xacro_args"):
        load(path, xacro_args={"length": None})  # type: ignore[dict-item]
    with refused("wrong-type", "xacro_args"):
        load(path, xacro_args={1: "a"})  # type: ignore[dict-item]
    with refused("wrong-type", "xacro_args"):
        load(path, xacro_args=["length:=3"])  # type: ignore[arg-type]


@pytest.mark.parametrize("document", ['<robot name="r"><link name="a"/></robot>', "<mujoco/>"])
def test_arguments_are_for_xacro_files(tmp_path: Path, document: str) -> None:
    path = tmp_path / "r.urdf"
    path.write_text(document)
    for source, what in ((path, str(path)), (document, "the text")):
        with refused("conflict", "xacro_args", what):
            load(source, xacro_args={})


# Files of other names --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "inside",
    ['<xacro:property name="n" value="a"/><link name="${n}"/>', '<link name="${1}"/>', '<link name="$(arg n)"/>'],
)
def test_xacro_is_never_taken_for_plain_urdf(tmp_path: Path, inside: str) -> None:
    path = write(tmp_path, inside, "arm.urdf")
    for source in (path, path.read_text()):
        with pytest.raises(ModelError, match=r":2: this is a xacro file .* load it with xacro_args=\{\}, or give it a"):
            load(source)


def test_an_mjcf_in_xacro_is_refused_with_what_makes_one_of_it(tmp_path: Path) -> None:
    document = HEAD.replace("robot name", "mujoco model") + (
        '<xacro:property name="z" value="0.2"/><worldbody><body name="a" pos="0 0 ${z}"><geom size="0.01"/>'
        '<joint name="j"/></body></worldbody></mujoco>'
    )
    path, plain = tmp_path / "m.xml.xacro", tmp_path / "m.xml"
    for each in (path, plain):
        each.write_text(document)
    for source, given in ((path, None), (document, {}), (plain, {}), (plain, None)):
        with pytest.raises(ModelError, match="this is an MJCF written in xacro; expand it, as in `xacro FILE -o robot"):
            load(source, xacro_args=given)
    expanded = xacro.process_file(str(path)).toprettyxml()
    plain.write_text(expanded)
    assert load(plain).pose("a", [0.0]).xyz[2] == 0.2


def test_what_stands_before_the_declaration_is_no_matter_to_xacro_either(tmp_path: Path) -> None:
    path = write(tmp_path, ARM)
    path.write_bytes(b'\n  <?xml version="1.0"?>\n<!-- \xb0 -->' + ARM.encode())
    assert load(path).joint("j").origin.xyz[2] == 2.0
    assert load(f'\n<?xml version="1.0"?>{ARM}', xacro_args={}).joint("j").origin.xyz[2] == 2.0


def test_a_call_that_nothing_defines_loads_as_it_is_and_not_as_xacro(tmp_path: Path) -> None:
    path = write(tmp_path, '<link name="a"><visual><xacro:grey/></visual></link>', "arm.urdf")
    with pytest.warns(ModelWarning, match="<xacro:grey> is left over from xacro and passed over"):
        assert load(path).links == ("a",)
    with pytest.raises(ModelError, match="<xacro:grey> calls a macro that is not defined"):
        load(path, xacro_args={})


def test_other_files_and_texts_are_expanded_where_that_is_asked_for(tmp_path: Path) -> None:
    write(tmp_path, '<xacro:macro name="arm"><link name="a"/></xacro:macro>', "part.xacro")
    path = write(tmp_path, '<xacro:include filename="part.xacro"/><xacro:arm/>', "arm.urdf")
    assert load(path, xacro_args={}).links == ("a",)
    with pytest.raises(ModelError, match=r"the text:2: it includes 'part.xacro', and a text has no folder in which"):
        load(path.read_text(), xacro_args={})
    assert load(path.read_text().replace("part.xacro", f"{tmp_path}/part.xacro"), xacro_args={}).links == ("a",)
    assert load(ARM, xacro_args={}).name == "r"


def test_a_file_of_macros_alone_is_called_so(tmp_path: Path) -> None:
    macro = '<xacro:macro name="arm"><link name="a"/></xacro:macro>'
    part = write(tmp_path, macro, "part.xacro")
    with pytest.raises(
        ModelError, match=r"part.xacro: this file only defines macros \('arm'\) and calls none: give the"
    ):
        load(part)
    whole = write(tmp_path, '<xacro:include filename="$(dirname)/part.xacro"/>', "whole.urdf.xacro")
    with pytest.raises(ModelError, match=f"if this file is a part of {re.escape(str(whole))}, which includes it, give"):
        load(part)


# What cannot be expanded -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("inside", "line", "words"),
    [
        (
            '<link name="a"/>\n<link name="$(arg nme)"/>',
            3,
            r"\$\(arg nme\) has no value; give xacro_args=\{'nme': ...\}",
        ),
        ('<link name="${nme + 1}"/>', 2, r"'nme' in \$\{nme \+ 1\} is neither a property nor a parameter"),
        ('\n<link name="${1/0}"/>', 3, r"\$\{1/0\} cannot be evaluated: division by zero"),
        ('<link name="${(}"/>', 2, r"\$\{\(\} cannot be evaluated: '\(' was never closed"),
        ("<xacro:arm/>", 2, "<xacro:arm> calls a macro that is not defined; include the file"),
        ('<xacro:macro name="m" params="a b"/><xacro:m a="1"/>', None, r"the call lacks b \(in the macro 'm'\)"),
        ('<xacro:macro name="m" params="len"/><xacro:m le="1"/>', None, "no parameter 'le'; did you mean 'len'"),
        ('<xacro:macro name="m"><xacro:m/></xacro:macro><xacro:m/>', None, "calls itself without end"),
        ('<xacro:include filename="no.xacro"/>', None, r"it includes '.*/no.xacro': no such file"),
        (
            '<xacro:include filename="$(find arm)/a.xacro"/>',
            2,
            "the package 'arm' is not found; give package_dirs= .*look",
        ),
        (
            '<xacro:include filename="package://arm/a.xacro"/>',
            None,
            r"package://arm/..., which xacro writes \$\(find arm\)/",
        ),
        ('<link name="$(env POISE_NO_SUCH)"/>', None, "environment variable 'POISE_NO_SUCH' is not set"),
        ('<xacro:if value="perhaps"/>', None, "is not a boolean expression"),
        ('<xacro:arg name="length"/>', None, "xacro:arg: missing attribute 'default'"),
        ("<link", 3, "not XML"),
        ('<robot name="r">\n<xacro:arm/></robot>', 2, 'write <robot xmlns:xacro="http://www.ros.org/wiki/xacro">'),
    ],
)
def test_what_cannot_be_expanded_is_told_with_its_place(
    tmp_path: Path, inside: str, line: int | None, words: str
) -> None:
    path = write(tmp_path, inside)
    with pytest.raises(ModelError, match=words) as caught:
        load(path)
    assert (caught.value.file, caught.value.line) == (str(path), line)
    assert "\n" not in str(caught.value)
    assert caught.value.__cause__ is None


def test_an_error_in_a_part_names_the_part_and_the_whole(tmp_path: Path) -> None:
    part = write(tmp_path, '<xacro:macro name="arm">\n<link name="${nme}"/></xacro:macro>', "parts/arm.xacro")
    path = write(tmp_path, '<xacro:include filename="parts/arm.xacro"/><xacro:arm/>')
    with pytest.raises(ModelError, match=rf"{re.escape(str(part))}:3: .* \(in the macro 'arm'\)"):
        load(path)
    write(tmp_path, '<link name="${nme}"/>', "parts/arm.xacro")
    with pytest.raises(ModelError, match=rf"{re.escape(str(part))}:2: .* \(included from {re.escape(str(path))}\)"):
        load(path)


def test_what_xacro_warns_of_is_a_warning(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = write(tmp_path, '<xacro:property name="pi" value="3"/><link name="a${pi}"/>')
    with pytest.warns(ModelWarning, match="arm.xacro:\n  xacro: redefining global symbol: pi"):
        assert load(path).links == ("a3",)
    assert capsys.readouterr() == ("", "")


# What is left behind ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "inside",
    [
        '<link name="a"/>',
        '<link name="$(find nowhere_to_be_found)"/>',
        '<xacro:include filename="nowhere_to_be_found"/>',
    ],
)
def test_xacro_and_the_disk_are_left_as_they_were(tmp_path: Path, inside: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    path = write(tmp_path, inside)

    def state() -> Any:
        names = ("filestack", "macrostack", "all_includes", "verbosity", "warning", "print_location")
        kept = [getattr(xacro, name) for name in names]
        return [*kept, dict(xacro.substitution_args_context), xacro.substitution_args._eval_find, dict(os.environ)]

    before = state()
    for _ in range(2):
        if "nowhere" in inside:
            with pytest.raises(ModelError):
                load(path)
        else:
            load(path, xacro_args={})
    assert state() == before
    assert list(tmp_path.iterdir()) == [path]


def test_threads_do_not_mix_their_arguments(tmp_path: Path) -> None:
    path = write(tmp_path, ARM)
    with ThreadPoolExecutor(4) as threads:
        models = list(threads.map(lambda n: load(path, xacro_args={"length": n}), range(1, 25)))
    assert [model.joint("j").origin.xyz[2] for model in models] == list(range(1, 25))
