"""Where in the user's program a traced operator is."""
import contextlib
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
    return "/torch/" not in path and not path.endswith("/contextlib.py")


def place_of(node):
    """"blocks.0.attn (Attention), model.py:12 `k = k.topk(3)`" of a traced operator."""
    modules = list((node.meta.get("nn_module_stack") or {}).values())
    words = []
    if modules:
        path, kind = modules[-1]
        kind = kind if isinstance(kind, str) else kind.__name__
        words.append(f"{path or 'the module'} ({kind.rsplit('.', 1)[-1]})")
    frames = FRAME.findall(node.meta.get("stack_trace") or "")
    own = [frame for frame in frames if is_own(frame[0])] or frames
    if own:
        path, line, code = own[-1]
        words.append(f"{path.rsplit('/', 1)[-1]}:{line} `{code.strip()}`")
    return ", ".join(words) or node.name
