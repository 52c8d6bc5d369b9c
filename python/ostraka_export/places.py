"""Where in the user's program a traced operator is."""
import contextlib
import linecache
import re
import traceback

from torch.fx.proxy import TracerBase

FRAME = re.compile(r'File "([^"]+)", line (\d+), in \S+\n\s*([^\n]*)')


@contextlib.contextmanager
def whole_stacks():
    """torch keeps only the frames of forward(); helpers and lambdas have lines, too. Without its hook it stays so."""
    name = "_filter_traceback_frames"
    before = vars(TracerBase).get(name)

    def from_forward(_, frames):
        first = next((i for i, frame in enumerate(frames) if frame.name == "forward"), len(frames))
        return traceback.StackSummary.from_list([frame for frame in frames[first:] if is_own(frame.filename)])
    if before is not None:
        setattr(TracerBase, name, from_forward)
    try:
        yield
    finally:
        if before is not None:
            setattr(TracerBase, name, before)


def is_own(path):
    return "/torch/" not in path and "/ostraka_export/" not in path and not path.endswith("/contextlib.py")


def in_module(path, kind):
    """Of a path inside of Objective, which calls the user's module `inner`."""
    path = path.removeprefix("inner").removeprefix(".")
    return f"{path or 'the module'} ({kind})"


def place_in(error, module):
    """The innermost place of the user's own in a traceback, with ": " behind it; "" if there is none."""
    paths = {id(part): path for path, part in module.named_modules()}
    place, inside, trace = "", "", error.__traceback__
    while trace is not None:
        code = trace.tb_frame.f_code
        part = trace.tb_frame.f_locals.get("self")
        if id(part) in paths and code.co_name == "forward" and is_own(code.co_filename):
            inside = in_module(paths[id(part)], type(part).__name__) + ", "
        if inside and is_own(code.co_filename):
            line = linecache.getline(code.co_filename, trace.tb_lineno).strip()
            place = f"{inside}{code.co_filename.rsplit('/', 1)[-1]}:{trace.tb_lineno} `{line}`: "
        trace = trace.tb_next
    return place


def place_of(node):
    """"blocks.0.attn (Attention), model.py:12 `k = k.topk(3)`" of a traced operator."""
    modules = list((node.meta.get("nn_module_stack") or {}).values())
    words = []
    if modules:
        path, kind = modules[-1]
        kind = kind if isinstance(kind, str) else kind.__name__
        words.append(in_module(path, kind.rsplit(".", 1)[-1]))
    frames = FRAME.findall(node.meta.get("stack_trace") or "")
    own = [frame for frame in frames if is_own(frame[0])] or frames
    if own:
        path, line, code = own[-1]
        words.append(f"{path.rsplit('/', 1)[-1]}:{line} `{code.strip()}`")
    return ", ".join(words) or node.name
