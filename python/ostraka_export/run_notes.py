"""What a run will do with a graph file, said when it is written."""
import math

import torch

TEXT_KINDS = 256  # tokens of a text are its bytes


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
        if min(kinds, inputs["targets"][3]) < TEXT_KINDS:
            return f"no --data of today feeds it: a text has {TEXT_KINDS} tokens, its bytes, and the graph fewer"
        rest = f"; {kinds - TEXT_KINDS} of its {kinds} tokens never come" if kinds > TEXT_KINDS else ""
        return f"--data text:FILE feeds it, in records of {positions} bytes and the next one{rest}"
    others = [(name, *of) for name, of in inputs.items() if name != "targets"]
    if "targets" in inputs and len(others) == 1 and others[0][1] == "f32":
        batch, *features = others[0][2] or (0,)
        (_, shape, lowest, classes) = inputs["targets"]
        if shape == (batch,) and lowest == -1:
            return (f"--data of labelled images with {math.prod(features)} features and at most {classes} classes "
                    "feeds it")
    return ("no --data of today feeds it: a run gives two inputs, tokens or features, and a target for each token or "
            "example")


def laws_note(drawn):
    """`drawn` has the laws of parameters that the laws could not have drawn."""
    laws = ", ".join(f"{name} ({law})" for name, law in list(drawn.items())[:8])
    more = f" and {len(drawn) - 8} more" if len(drawn) > 8 else ""
    return (f"no law of a graph fits the values of {laws}{more}: a run draws by the law in brackets, and the graph "
            "does not carry the values; initial= gives another law")


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
            "and its loss says nothing")
