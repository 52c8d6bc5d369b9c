"""What a run will do with a graph file, said when it is written."""
import math

import torch

TEXT_KINDS = 256  # of a text that is not packed: tokens are its bytes


def of_tokens(inputs):
    """(positions, kinds) if the inputs are tokens and a target for each of them, else None."""
    if set(inputs) != {"tokens", "targets"}:
        return None
    (element, shape, _, kinds), (_, of_targets, lowest, _) = inputs["tokens"], inputs["targets"]
    return (shape[1], kinds) if element == "i32" and len(shape) == 2 and shape == of_targets and lowest == -1 else None


def data_note(inputs):
    """Which --data can feed the graph."""
    if (found := of_tokens(inputs)) is not None:
        positions, kinds = found
        kinds = min(kinds, inputs["targets"][3])
        packed = f"--data tokens:FILE of ostraka.data.pack(..., context={positions}) feeds it, of at most {kinds} tokens"
        if kinds == TEXT_KINDS:
            return f"--data text:FILE feeds it, in records of {positions} bytes and the next one"
        return packed + ("; also --data text:FILE, whose bytes are the first 256" if kinds > TEXT_KINDS else "")
    others = [(name, *of) for name, of in inputs.items() if name != "targets"]
    if "targets" in inputs and len(others) == 1 and others[0][1] == "f32":
        batch, *features = others[0][2] or (0,)
        (_, shape, lowest, classes) = inputs["targets"]
        if shape == (batch,) and lowest == -1:
            return (f"--data of labelled images with {math.prod(features)} features and at most {classes} classes "
                    "feeds it")
    batches = {tuple(shape[:1]) for _, shape, *_ in inputs.values()}
    if len(batches) != 1 or () in batches:
        return "no --data feeds it: the first axis of each input must be one number of examples"
    columns = ", ".join(f"{name} {list(shape[1:])}" for name, (_, shape, *_) in inputs.items())
    return f"--data examples:FILE of ostraka.data.pack_examples feeds it, with the columns {columns}"


def drops_note(drawn):
    """`drawn`: the shapes of drawn inputs; "" without any."""
    if not drawn:
        return ""
    count = sum(math.prod(shape) for shape in drawn)
    return (f"what is dropped is drawn from each batch's seed, as inputs of {count} numbers a micro-batch; evaluations "
            "drop nothing")


def laws_note(drawn):
    """`drawn` has the laws of parameters that the laws could not have drawn."""
    laws = ", ".join(f"{name} ({law})" for name, law in list(drawn.items())[:8])
    more = f" and {len(drawn) - 8} more" if len(drawn) > 8 else ""
    return (f"no law of a graph fits the values of {laws}{more}: a run draws by the law in brackets, and the graph "
            "does not carry the values. To begin with them, save them (safetensors.torch.save_model(module, FILE)) and give "
            "the run --from FILE; initial= gives another law")


def leak_note(graph, parameters, inputs):
    """Whether what a position predicts depends on the next token, its own target in a text; "" if not."""
    found = of_tokens(inputs)
    if found is None or found[0] < 2 or found[1] < 2:
        return ""
    _, shape, _, kinds = inputs["tokens"]
    tokens = torch.randint(0, kinds, shape, generator=torch.Generator().manual_seed(2))
    targets = torch.full(shape, -1)
    targets[:, 0] = 0
    others = tokens.clone()
    others[:, 1] = (others[:, 1] + 1) % kinds
    losses = [graph.loss(parameters, tokens=x, targets=targets) for x in (tokens, others)]
    if losses[0] == losses[1] or not all(map(math.isfinite, losses)):
        return ""
    return ("each position sees the next token, which is its target with --data text: such a run learns to copy it, "
            "so `ostraka run init` and `swarm` refuse it")
