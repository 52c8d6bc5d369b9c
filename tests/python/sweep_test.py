"""Every class and every function of the module against objects in states that nobody meant: made without
a constructor, shared by threads, copied, pickled, subclassed; arrays of every sort. It works, or a
TypeError or ValueError of one line says what to do. Classes and functions are found in the module, so that
new ones are swept too: what this file cannot call is a failure."""
import copy
import os
import pickle
import subprocess
import sys
import tempfile
import threading
import unittest
from pathlib import Path

import numpy as np

import ostraka

ROWS = np.random.default_rng(4).standard_normal((7, 5)).astype("float32")
GRAPH = """ostraka-graph 1
parameter w f32[4,3] normal 2e-02
parameter b f32[4] zeros
input x f32[2,3]
input targets i32[2] -1 4
%1 f32[2,4] = linear x w b
%2 f32[] = cross_entropy %1 targets
loss %2
"""
PARAMETERS = {"w": ROWS[:4, :3].copy(), "b": ROWS[0, :4].copy()}
INPUTS = {"x": ROWS[:2, :3].copy(), "targets": np.array([3, 1])}


def classes():
    return {name: value for name, value in vars(ostraka).items() if isinstance(value, type)}


def graph_file(folder):
    path = Path(folder) / "linear.graph"
    path.write_text(GRAPH)
    return path


def made(name, folder):
    """An object of the class as people make it."""
    makers = {"State": ostraka.State, "Memory": ostraka.Memory,
              "Pipeline": lambda: ostraka.Pipeline("krum", f=2, pre=["worker_momentum", "bucketing:s=1"]),
              "Graph": lambda: ostraka.Graph(graph_file(folder))}
    return makers[name]()


def used(thing):
    """What the object does in a call, as plain values."""
    if isinstance(thing, ostraka.Graph):
        loss, gradients = thing.gradient(PARAMETERS, **INPUTS)
        return [loss] + [gradients[name].tolist() for name in gradients]
    if isinstance(thing, ostraka.Memory):
        return ostraka.attacks.mimic(ROWS, byzantine=2, warmup=3, memory=thing).tolist()
    if isinstance(thing, ostraka.State):
        return ostraka.aggregate("centered_clip", ROWS, variant="steps", tau=0.5, state=thing).tolist()
    return thing(ROWS).tolist()


def operations(thing):
    """(name, call) of every public attribute, and of calls that take the object."""
    for name in dir(type(thing)):
        if name.startswith("_") and name not in ("__call__", "__repr__", "__reduce__"):
            continue
        if isinstance(getattr(type(thing), name), property):
            yield name, lambda name=name: getattr(thing, name)
        elif name in ("gradient", "loss"):
            yield name, lambda name=name: getattr(thing, name)(PARAMETERS, **INPUTS)
        elif name == "__call__":
            yield name, lambda: thing(ROWS)
        else:
            yield name, lambda name=name: getattr(thing, name)()
    yield "as state", lambda: ostraka.aggregate("foolsgold", ROWS, state=thing)
    yield "as state of a mix", lambda: ostraka.mix("worker_momentum", ROWS, state=thing)
    yield "as memory", lambda: ostraka.attack("mimic", ROWS, memory=thing)
    yield "as rule", lambda: ostraka.attack("opt_ipm", ROWS, rule=thing)
    yield "copy", lambda: copy.copy(thing)
    yield "deepcopy", lambda: copy.deepcopy(thing)
    yield "pickle", lambda: pickle.dumps(thing)


def unmade():
    """Uses every class without its constructor, in a process that may crash. Prints what went wrong."""
    for name, cls in classes().items():
        kinds = {name: cls, f"a subclass of {name}": type("Sub", (cls,), {})}
        for what, kind in kinds.items():
            for operation, _ in operations(kind.__new__(kind)):
                thing = kind.__new__(kind)
                print(what, operation, flush=True)
                try:
                    dict(operations(thing))[operation]()
                except (TypeError, ValueError) as error:
                    if "\n" in str(error):
                        print("MANY LINES", error)
                else:
                    if operation not in ("__repr__",) or name == "Pipeline":
                        print("TAKEN", what, operation)
        try:
            cls.__base__()
            print("TAKEN", "the base of", name)
        except TypeError:
            pass

        class Careless(cls):
            def __init__(self):
                pass
        try:
            Careless()
            print("TAKEN", name, "without super().__init__")
        except TypeError:
            pass


class ClassesTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def test_every_class_is_known_here(self):
        for name in classes():
            with self.subTest(name):
                used(made(name, self.folder))

    def test_without_a_constructor(self):
        ended = subprocess.run([sys.executable, __file__, "unmade"], capture_output=True, text=True, timeout=120)
        last = ended.stdout.splitlines()[-1] if ended.stdout else ""
        self.assertEqual(ended.returncode, 0, f"after: {last}\n{ended.stderr}")
        self.assertNotRegex(ended.stdout, "TAKEN|MANY LINES")
        self.assertGreater(len(ended.stdout.splitlines()), 2 * 7 * len(classes()))

    def test_the_message_says_what_to_do(self):
        for name, cls in classes().items():
            with self.subTest(name), self.assertRaisesRegex(TypeError, rf"^this object was made without its constructor: make it by {name}\(\.\.\.\)$"):
                used(cls.__new__(cls))

    def test_copies_and_pickles_are_equal_and_apart(self):
        ways = {"copy": copy.copy, "deepcopy": copy.deepcopy, "in a list": lambda x: copy.deepcopy([x])[0]}
        for protocol in range(pickle.HIGHEST_PROTOCOL + 1):
            ways[f"pickle {protocol}"] = lambda x, protocol=protocol: pickle.loads(pickle.dumps(x, protocol))
        for name in classes():
            for way, make in ways.items():
                with self.subTest(name=name, way=way):
                    first = made(name, self.folder)
                    used(first)
                    if name == "Graph":
                        with self.assertRaisesRegex(TypeError, "^a Graph holds threads and plans.*give the path"):
                            make(first)
                        continue
                    second = make(first)
                    self.assertIs(type(second), type(first))
                    for _ in range(2):  # a call of one changes nothing of the other
                        self.assertEqual(used(second), used(first))
                    if name == "Pipeline":
                        self.assertEqual(repr(second), repr(first))

    def test_fresh_objects_pickle(self):
        for name in classes():
            if name != "Graph":
                pickle.loads(pickle.dumps(made(name, self.folder)))

    def test_subclasses_keep_their_attributes(self):
        for name, cls in classes().items():
            if name == "Graph":
                continue
            global Named  # pickle looks it up
            Named = type("Named", (cls,), {"__module__": __name__})
            thing = Named("mean") if name == "Pipeline" else Named()
            thing.label = [3]
            for make in (copy.copy, copy.deepcopy, lambda x: pickle.loads(pickle.dumps(x))):
                with self.subTest(name):
                    again = make(thing)
                    self.assertIsInstance(again, Named)
                    self.assertEqual(again.label, [3])
                    used(again)

    def test_pickles_of_something_else_are_refused(self):
        for name, cls in classes().items():
            if name == "Graph":
                continue
            good = made(name, self.folder)
            used(good)
            state = good.__getstate__()
            wrong = [None, 3, (), (name,), state[:3], (name, "0.0.0") + state[2:], ("Other",) + state[1:],
                     state[:2] + (((1, 2),),) + state[3:], state[:2] + (("x", b"123", [b"1"]),) + state[3:],
                     state[:2] + (((1, b"1234567", [b""]),),) + state[3:],
                     state[:2] + (((1, np.array([np.nan]).tobytes(), []),),) + state[3:],
                     state[:2] + ((([], 5, b"", b"", {}, b""),),) + state[3:], state[:3] + (3,)]
            for value in wrong:
                with self.subTest(name=name, value=value):
                    thing = cls.__new__(cls)
                    with self.assertRaisesRegex(ValueError, f"^this is no pickle of an ostraka.{name}: ") as caught:
                        thing.__setstate__(value)
                    self.assertNotIn("\n", str(caught.exception))

    def test_threads_share_objects(self):
        for name in classes():
            with self.subTest(name):
                shared, alone = made(name, self.folder), made(name, self.folder)
                results, errors = [], []

                def work():
                    try:
                        for _ in range(30):
                            results.append(used(shared))
                            if hasattr(shared, "copy"):
                                shared.copy()
                    except Exception as error:  # noqa: a thread's error is the test's
                        errors.append(error)
                workers = [threading.Thread(target=work) for _ in range(4)]
                for worker in workers:
                    worker.start()
                for worker in workers:
                    worker.join(timeout=60)
                    self.assertFalse(worker.is_alive(), "it hangs")
                self.assertEqual(errors, [])
                # In turns: the same calls as one thread makes, in some order.
                expected = [used(alone) for _ in range(len(results))]
                self.assertEqual(sorted(map(repr, results)), sorted(map(repr, expected)))

    def test_threads_share_an_object_of_many_values(self):
        rows = np.random.default_rng(1).standard_normal((5, 20_000)).astype("float32")
        state, memory = ostraka.State(), ostraka.Memory()

        def work():
            for _ in range(8):
                ostraka.aggregate("mean", rows, pre="worker_momentum", state=state, threads=1)
                ostraka.attacks.delayed(rows, byzantine=3, memory=memory, threads=1)
                pickle.dumps(state), copy.copy(memory)
        workers = [threading.Thread(target=work) for _ in range(4)]
        for worker in workers:
            worker.start()
        for worker in workers:
            worker.join()
        self.assertEqual(state.__getstate__()[2][0][0], 32)  # every call counts


class Tensor:
    """What of a torch tensor matters here, without torch."""
    __module__ = "torch"

    def __init__(self, array, lazily=None, error=None):
        self.array, self.lazily, self.error = array, lazily, error

    def is_neg(self):
        return self.lazily == "neg"

    def is_conj(self):
        return self.lazily == "conj"

    def __dlpack__(self, **options):
        if self.error:
            raise self.error
        return self.array.__dlpack__(**options)

    def __dlpack_device__(self):
        return self.array.__dlpack_device__()


class Unknown(np.ndarray):
    """A subclass that may mean more than its numbers."""


def plain(x):
    return np.array(x, order="C")


def strided(x):
    wide = np.zeros(x.shape[:-1] + (2 * x.shape[-1],), x.dtype)
    wide[..., ::2] = x
    return wide[..., ::2]


def read_only(x):
    x = plain(x)
    x.flags.writeable = False
    return x


def in_a_file(x):
    with tempfile.TemporaryFile() as file:
        mapped = np.memmap(file, x.dtype, "w+", shape=x.shape)
        mapped[...] = x
        return mapped


# What has the values of x as they are: a call gives what it gives for x.
EQUAL = {"plain": plain, "read-only": read_only, "memmap": in_a_file,
         "a slice of rows": lambda x: np.concatenate([x, x])[:len(x)],
         "a tensor": lambda x: Tensor(plain(x))}
EQUAL_MATRICES = {"np.matrix": np.matrix, "upside down twice": lambda x: plain(x[::-1])[::-1], "a list": list, "a tuple of tensors": lambda x: tuple(map(Tensor, x))}
# What has not, or not in memory: refused everywhere.
REFUSED = {
    "masked": lambda x: np.ma.array(x, mask=x > 0), "masked without a mask": np.ma.array,
    "an unknown subclass": lambda x: x.view(Unknown),
    "lazily negated": lambda x: Tensor(plain(x), "neg"), "lazily conjugated": lambda x: Tensor(plain(x), "conj"),
    "a tensor with a gradient": lambda x: Tensor(x, error=BufferError("Can't export tensors that require gradient,\nuse detach()")),
    "a tensor of bfloat16": lambda x: Tensor(x, error=RuntimeError("unsupported ScalarType BFloat16")),
    "a tensor elsewhere": lambda x: Tensor(x, error=TypeError("can't convert cuda:0 device type tensor")),
    "objects": lambda x: x.astype(object), "text": lambda x: x.astype("U9"), "complex": lambda x: x.astype("complex64"),
    "dates": lambda x: x.astype("int64").astype("datetime64[s]"), "0-d": lambda x: x.ravel()[:1].reshape(()),
    "empty": lambda x: x[:0], "records": lambda x: plain(x).view([(f"f{i}", x.dtype) for i in range(x.shape[-1])]),
    "nothing": lambda x: None, "a string": lambda x: "rows", "bytes": lambda x: b"rows", "a number": lambda x: 3,
    "a set": lambda x: {1, 2}, "a class": lambda x: int, "a generator": lambda x: iter(x)}
# Where an array is read in place and never converted.
IN_PLACE = {"big-endian": lambda x: x.astype(x.dtype.newbyteorder(">")), "strided": strided,
            "of Fortran's order": np.asfortranarray, "float16": lambda x: x.astype("float16"),
            "longdouble": lambda x: x.astype("longdouble"), "integers": lambda x: x.astype("int32"),
            "booleans": lambda x: x > 0, "not aligned": lambda x: np.frombuffer(b"\0" + plain(x).tobytes(), "u1")[1:].view(x.dtype).reshape(x.shape)}


def calls():
    """(name, one argument that is an array, call of it) for every function that takes arrays."""
    def ask(function, **options):
        return lambda x: function(x, **options)
    f = {entry["name"]: 1 for entry in ostraka.list_rules()}
    for entry in ostraka.list_rules():
        options = {p["keyword"]: 5 for p in entry["parameters"] if p["required"] and p["name"] != "f"}
        if entry["reference_meaning"]:
            options["reference"] = ROWS[0].copy()
        yield f"rules.{entry['name']}", ROWS, ask(getattr(ostraka.rules, entry["name"]), f=f[entry["name"]], **options)
    for entry in ostraka.list_pre():
        yield f"mix {entry['name']}", ROWS, ask(lambda x, name=entry["name"]: ostraka.mix(name, x, f=1))
    for entry in ostraka.list_attacks():
        if entry["knowledge"] == "work":
            continue
        yield f"attacks.{entry['name']}", ROWS, ask(getattr(ostraka.attacks, entry["name"]), byzantine=2,
                                                    rule=ostraka.Pipeline("median"))
    yield "aggregate", ROWS, lambda x: ostraka.aggregate("krum", x, f=1)
    yield "attack", ROWS, lambda x: ostraka.attack("alie", x)
    yield "own of attack", ROWS[:2], lambda x: ostraka.attack("sign_flip", ROWS, own=x, byzantine=2)
    yield "Pipeline()", ROWS, lambda x: ostraka.Pipeline("median")(x)
    yield "reference", ROWS[0], lambda x: ostraka.rules.fltrust(ROWS, reference=x)


class ArraysTest(unittest.TestCase):
    def refused(self, call, *arguments):
        with self.assertRaises((TypeError, ValueError)) as caught:
            call(*arguments)
        self.assertNotIn("\n", str(caught.exception))
        return str(caught.exception)

    def test_every_function_is_known_here(self):
        swept = {name.split(" ")[0].split(".")[-1] for name, _, _ in calls()}
        on_work = {entry["name"] for entry in ostraka.list_attacks() if entry["knowledge"] == "work"}
        others = {"list_rules", "list_pre", "list_attacks", "export", "devices"} | on_work  # take no array of rows
        for module in (ostraka, ostraka.rules, ostraka.attacks):
            for name, value in vars(module).items():
                if callable(value) and not isinstance(value, type) and not name.startswith("_"):
                    self.assertIn(name, swept | others)

    def test_what_has_equal_values_gives_equal_results(self):
        for name, x, call in calls():
            expected = np.asarray(call(plain(x))).tobytes()
            for sort, make in {**EQUAL, **(EQUAL_MATRICES if x.ndim == 2 else {})}.items():
                with self.subTest(name=name, sort=sort):
                    try:
                        found = call(make(x))
                    except ModuleNotFoundError as error:  # results for tensors are tensors
                        self.assertEqual(error.name, "torch")
                        continue
                    self.assertEqual(np.asarray(found).tobytes(), expected)

    def test_what_has_not_is_refused_in_one_line(self):
        for name, x, call in calls():
            for sort, make in {**REFUSED, **IN_PLACE}.items():
                if name == "reference" and sort == "of Fortran's order" or name != "x" and sort == "of Fortran's order" and x.ndim == 1:
                    continue
                if sort == "nothing" and name in ("own of attack", "reference"):
                    continue  # as if it were not given
                with self.subTest(name=name, sort=sort):
                    self.refused(call, make(x))

    def test_a_row_of_a_list_is_no_exception(self):
        for sort, make in {**REFUSED, **IN_PLACE}.items():
            if sort in ("of Fortran's order", "empty"):
                continue
            with self.subTest(sort):
                self.refused(ostraka.rules.mean, [ROWS[0], make(ROWS[1]), ROWS[2]])

    def test_masks_and_signs_have_remedies(self):
        masked = np.ma.array(ROWS, mask=ROWS > 0)
        for call, remedy in [(lambda: ostraka.rules.mean(masked), r"rows: a masked array, .* give x\.filled\(value\)"),
                             (lambda: ostraka.rules.mean(list(masked)), r"rows\[0\]: a masked array"),
                             (lambda: ostraka.rules.mean(Tensor(ROWS, "neg")), r"give x\.resolve_neg\(\)"),
                             (lambda: ostraka.rules.mean(Tensor(ROWS, "conj")), r"give x\.resolve_conj\(\)"),
                             (lambda: ostraka.rules.mean(ROWS.view(Unknown)), r"a Unknown, .* give numpy\.asarray\(x\)")]:
            with self.assertRaisesRegex(ValueError, remedy):
                call()

    def test_graphs(self):
        with tempfile.TemporaryDirectory() as folder:
            graph = ostraka.Graph(graph_file(folder))
        expected = graph.loss(PARAMETERS, **INPUTS)
        calls = {"parameter": lambda x: graph.loss({**PARAMETERS, "w": x}, **INPUTS),
                 "input": lambda x: graph.loss(PARAMETERS, **{**INPUTS, "x": x})}
        values = {"parameter": PARAMETERS["w"], "input": INPUTS["x"]}
        converted = {name: make for name, make in IN_PLACE.items() if name not in ("float16", "integers", "booleans")}
        for place, call in calls.items():
            for sort, make in {**EQUAL, **converted, "a list of lists": lambda x: x.tolist()}.items():
                with self.subTest(place=place, sort=sort):
                    self.assertEqual(call(make(values[place])), expected)
            for sort, make in REFUSED.items():
                with self.subTest(place=place, sort=sort):
                    self.refused(call, make(values[place]))
            with self.subTest(place=place, sort="masked rows in a list"):
                self.refused(call, list(np.ma.array(values[place], mask=True)))
        # What converts itself, as torch tensors of bool do, may.
        class Converts:
            def __init__(self, value):
                self.value = value

            def __array__(self, *_):
                if isinstance(self.value, Exception):
                    raise self.value
                return self.value
        self.assertEqual(graph.loss({**PARAMETERS, "w": Converts(PARAMETERS["w"])}, **INPUTS), expected)
        text = self.refused(graph.loss, {**PARAMETERS, "w": Converts(RuntimeError("Can't call numpy() on Tensor\nthat"))})
        self.assertEqual(text, "w is no array that NumPy takes: Can't call numpy() on Tensor")
        integers = {"a list": [3, 1], "int8": np.array([3, 1], "int8"), "big-endian": np.array([3, 1], ">i8"),
                    "strided": np.array([3, 0, 1, 0])[::2], "uint64": np.array([3, 1], "uint64")}
        for sort, x in integers.items():
            if sort != "uint64":
                with self.subTest(sort):
                    self.assertEqual(graph.loss(PARAMETERS, x=INPUTS["x"], targets=x), expected)
        for sort, x in {"masked": np.ma.array([3, 1], mask=[0, 1]), "floats": np.array([3.0, 1.0]), "text": "31",
                        "objects": np.array([3, None]), "huge": np.array([2**63, 1], "uint64"), "nothing": None,
                        "complex": np.array([3j, 1])}.items():
            with self.subTest(sort):
                self.refused(lambda x: graph.loss(PARAMETERS, x=INPUTS["x"], targets=x), x)
        for wrong in (None, 3, "w", [("w", 1)], ROWS):
            with self.subTest(parameters=wrong):
                self.refused(graph.loss, wrong)
                self.refused(graph.gradient, wrong)


class PathsTest(unittest.TestCase):
    def test_every_sort_of_path(self):
        class Named:
            def __init__(self, name):
                self.name = name

            def __fspath__(self):
                return self.name
        with tempfile.TemporaryDirectory() as folder:
            path = graph_file(folder)
            odd = Path(folder) / os.fsdecode(b"n\xe4me\xff.graph")  # no UTF-8
            odd.write_text(GRAPH)
            for given in (path, str(path), os.fsencode(path), Named(str(path)), Named(os.fsencode(path)), odd):
                with self.subTest(given=given):
                    self.assertEqual(ostraka.Graph(given).text, GRAPH)
            for given in (3, 1.5, True, None, [str(path)], path.open, bytearray(b"x")):
                with self.subTest(given=given):
                    with self.assertRaisesRegex(TypeError, "^path must be a file's name, as a string or an os.PathLike, and not of type [a-z_A-Z]+$"):
                        ostraka.Graph(given)
            with self.assertRaisesRegex(ValueError, "NUL"):
                ostraka.Graph("a\0b")
            with self.assertRaisesRegex(ValueError, "cannot be read"):
                ostraka.Graph(Path(folder) / "none")

    def test_constants(self):
        from ostraka_export.tensors import write_tensors
        import hashlib
        table = np.arange(6, dtype="float32").reshape(2, 3)
        name = hashlib.blake2b(table.tobytes(), digest_size=32, person=b"constant/1".ljust(16, b"\0")).hexdigest()
        with tempfile.TemporaryDirectory() as folder:
            path, tensors = Path(folder) / "graph", Path(folder) / "tensors"
            path.write_text(GRAPH.replace("input x", f"constant t f32[2,3] {name}\ninput x", 1)
                            .replace("%2 f32[] = cross_entropy %1", "%3 f32[] = cross_entropy %2")
                            .replace("%1 f32[2,4] = linear x", "%1 f32[2,3] = add x t\n%2 f32[2,4] = linear %1")
                            .replace("loss %2", "loss %3"))
            write_tensors(tensors, {"t": table})
            for given in (tensors, str(tensors), os.fsencode(tensors), {"t": table}):
                ostraka.Graph(path, constants=given)
            for given in (3, True, [1]):  # a number is no open file
                with self.assertRaisesRegex(TypeError, "^constants must be a file's name"):
                    ostraka.Graph(path, constants=given)


class NamesTest(unittest.TestCase):
    def test_what_is_no_name(self):
        for wrong in (3, None, b"krum", ["krum"], ostraka.State()):
            for call, what in [(lambda: ostraka.aggregate(wrong, ROWS), "rule"), (lambda: ostraka.Pipeline(wrong), "rule"),
                               (lambda: ostraka.attack(wrong, ROWS), "name")]:
                with self.subTest(wrong=wrong, what=what), self.assertRaisesRegex(TypeError, f"^{what} must be a string, and not of type [a-zA-Z]+$"):
                    call()

    def test_numbers_and_switches(self):
        with self.assertRaisesRegex(ValueError, r"^f must be 0 to 2\*\*64 - 1$"):
            ostraka.mix("nnm", ROWS, f=-1)
        with self.assertRaisesRegex(TypeError, "^f must be a whole number$"):
            ostraka.mix("nnm", ROWS, f="one")
        for call in (lambda: ostraka.rules.mean(ROWS, report=ROWS), lambda: ostraka.Pipeline("mean")(ROWS, report=ROWS)):
            with self.assertRaisesRegex(TypeError, "^report must be True or False$"):
                call()
        with self.assertRaisesRegex(TypeError, "^threads must be an integer$"):
            ostraka.rules.mean(ROWS, threads=True)
        with self.assertRaisesRegex(ValueError, "^threads must be 1 to 1024$"):
            ostraka.rules.mean(ROWS, threads=10**30)

    def test_a_state_of_another_mix_is_refused_and_kept(self):
        state = ostraka.State()
        ostraka.mix(["worker_momentum", "nnm"], ROWS, f=1, state=state)
        before = state.__getstate__()
        for call in (lambda: ostraka.mix("worker_momentum", ROWS, f=1, state=state),
                     lambda: ostraka.mix(["worker_momentum", "nnm"], ROWS[:5], f=1, state=state)):
            with self.assertRaisesRegex(ValueError, "state"):
                call()
            self.assertEqual(state.__getstate__(), before)


if __name__ == "__main__":
    if sys.argv[1:] == ["unmade"]:
        unmade()
    else:
        unittest.main(verbosity=1)
