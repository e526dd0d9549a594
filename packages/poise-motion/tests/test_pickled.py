"""Pickles are read and never run: what they ask for besides arrays is refused, and nothing of it happens."""

import codecs
import collections
import os
import pickle
import struct
import types
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.sparse import coo_matrix, csc_array, csr_matrix
from support.refusals import refused

import poise as pz
from poise_motion.files.pickled import read_pickle


def read(value: object, protocol: int = 2) -> Any:
    return read_pickle(pickle.dumps(value, protocol), "it.pkl")


@pytest.mark.parametrize("protocol", range(6))
def test_arrays_and_containers_come_back(protocol: int) -> None:
    rng = np.random.default_rng(0)
    value = {
        "doubles": rng.normal(size=(3, 4)),
        "by columns": np.asfortranarray(rng.normal(size=(3, 4))),
        "floats": rng.normal(size=7).astype(np.float32),
        "big ends": np.arange(5, dtype=">i4"),
        "flags": np.array([True, False]),
        "words": np.array(["ab", "c"]),
        "no number": np.zeros((0, 3)),
        "scalar": np.float64(2.5),
        "nested": [1, (2.0, "three", None, True), {"four": b"five"}],
        "ordered": collections.OrderedDict([("b", 1), ("a", np.arange(2))]),
        "set": {1, 2},
        "complex": 1.0 + 2.0j,
    }
    found = read(value, protocol)
    assert list(found) == list(value)
    for name in list(value)[:7]:
        np.testing.assert_array_equal(found[name], value[name])
        assert found[name].dtype == value[name].dtype
    assert found["scalar"] == 2.5
    assert found["nested"] == value["nested"]
    assert list(found["ordered"]) == ["b", "a"]
    assert found["set"] == {1, 2}
    assert found["complex"] == 1.0 + 2.0j


@pytest.mark.parametrize("kind", [csc_array, csr_matrix, coo_matrix])
def test_sparse_matrices_become_dense(kind: Any) -> None:
    dense = np.where(np.random.default_rng(1).random((4, 6)) > 0.6, 1.5, 0.0)
    np.testing.assert_array_equal(read(kind(dense)), dense)


def test_an_array_in_two_places_is_read_once() -> None:
    array = np.arange(3.0)
    a, b = read([array, array])
    assert a is b


def test_a_pickle_of_python_2_is_read() -> None:
    made = b"cnumpy.core.multiarray\n_reconstruct\n(cnumpy\nndarray\n(I0\ntS'b'\ntR(I1\n(I2\ntcnumpy\ndtype\n(S'f8'\n"
    made += b"I0\nI1\ntR(I3\nS'<'\nNNNI-1\nI-1\nI0\ntbI00\nS'"
    made += b"".join(b"\\x%02x" % k for k in struct.pack("<2d", 1.0, 2.5)) + b"'\ntb."
    np.testing.assert_array_equal(read_pickle(made, "it.pkl"), [1.0, 2.5])


def chumpy(name: str, state: object) -> bytes:
    """An object of a library that is not there, pickled as Python 2 did, with arrays in it."""
    module = types.ModuleType("chumpy")
    module.__dict__[name] = type(name, (), {"__module__": "chumpy"})
    made = module.__dict__[name]()
    made.__dict__.update(state)
    import sys

    sys.modules["chumpy"] = module
    try:
        return pickle.dumps(made, 2)
    finally:
        del sys.modules["chumpy"]


def test_arrays_of_chumpy_give_their_numbers_without_it() -> None:
    array = np.arange(6.0).reshape(2, 3)
    np.testing.assert_array_equal(read_pickle(chumpy("Ch", {"x": array, "_dirty": True}), "it.pkl"), array)
    state = {"a": array, "idxs": np.array([5, 0]), "preferred_shape": (2, 1)}
    np.testing.assert_array_equal(read_pickle(chumpy("Select", state), "it.pkl"), [[5.0], [0.0]])
    with refused("invalid-model", "it.pkl", "chumpy.Add keeps no plain numbers", "save its arrays as .npz"):
        read_pickle(chumpy("Add", {"a": array, "b": array}), "it.pkl")


class Running:
    """Pickles as a call."""

    def __init__(self, call: Any, *arguments: Any) -> None:
        self.call = call, arguments

    def __reduce__(self) -> Any:
        return self.call


def test_nothing_is_run(tmp_path: Path) -> None:
    trap = tmp_path / "trap"
    for call in (
        Running(os.system, f"touch {trap}"),
        Running(eval, f"open({str(trap)!r}, 'w')"),
        Running(open, str(trap), "w"),
        Running(getattr, np.ndarray, "tofile"),
        Running(np.load, str(trap)),
        Running(codecs.lookup, "latin1"),
        Running(Path, str(trap)),
    ):
        for protocol in range(6):
            with refused("invalid-model", "it.pkl: the pickle cannot be read, near byte", "it asks for"):
                read({"poses": call}, protocol)
        file = tmp_path / "it.pkl"
        file.write_bytes(pickle.dumps({"poses": call}))
        with refused("invalid-model", "is not run"):
            pz.load_motion(file)
    assert not trap.exists()


HOSTILE = {
    "a name itself": b"cnumpy\nndarray\n.",
    "a state for a name": b"cnumpy\nndarray\n}S'x'\nI1\nsb.",
    "a call of a number": b"I1\n(tR.",
    "a call of a result": b"cnumpy\nndarray\n(I1\ntR(I1\ntR.",
    "an array of no bytes": b"cnumpy\nndarray\n((I1000000000\ntS'f8'\nS''\ntR.",
    "an array of negative size": b"cnumpy\nndarray\n((I-1\ntS'f8'\nS''\ntR.",
    "an array of a subclass": b"cos\nPathLike\n(tR.",
    "records": b"cnumpy\nndarray\n((I1\ntS'f8,f8'\nS'0123456789abcdef'\ntR.",
    "memory by number": b"cbuiltins\nbytearray\n(I100000000000\ntR.",
    "a place of its memo": b"]r\xff\xff\xff\xffh\x00.",
    "a text of four gigabytes": b"X\xff\xff\xff\xff.",
    "bytes of many gigabytes": b"\x8e\xff\xff\xff\xff\xff\xff\xff\x7f.",
    "a list that holds itself": b"]q\x00h\x00a.",
    "many lists in one another": b"]" * 100_000 + b"a" * 99_999 + b".",
    "an object outside": b"Pthere\n.",
    "an extension": b"\x82\x01.",
    "items for a name": b"cnumpy\nndarray\nI1\nI2\ns.",
    "a module of numpy": b"cnumpy.lib.npyio\nload\n(S'a'\ntR.",
    "an import by a name with dots": b"\x80\x04\x8c\x05numpy\x8c\x0cndarray.dump\x93.",
    "nothing": b"\x80\x02",
    "text": b"hello",
}


@pytest.mark.parametrize("what", HOSTILE)
def test_what_is_hostile_ends_in_a_sentence(what: str) -> None:
    with refused("invalid-model", "it.pkl: the pickle cannot be read"):
        read_pickle(HOSTILE[what], "it.pkl")


def test_a_sparse_matrix_that_is_larger_than_memory_is_for_is_refused() -> None:
    with refused("invalid-model", "a sparse matrix of 1000000 x 1000000"):
        read(csr_matrix((1_000_000, 1_000_000)))


def test_a_list_that_doubles_is_read_once_a_level() -> None:
    made: list[Any] = []
    for _ in range(50):
        made = [made, made]
    assert len(read(made)) == 2
