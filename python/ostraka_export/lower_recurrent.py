"""Recurrent layers, step by step: each layer's products with its inputs are one for all steps."""
from ostraka_export.errors import Unsupported
from ostraka_export.lower_shapes import cut
from ostraka_export.lowering import lowers


def linear(emit, x, weight, bias):
    operands = [x, emit.tensor(weight)] + ([] if bias is None else [emit.tensor(bias)])
    return emit.apply("linear", operands, x.shape[:-1] + (weight.shape[0],))


def added(emit, a, b):
    return emit.apply("add", [a, b], a.shape)


def times(emit, a, b):
    return emit.apply("mul", [a, b], a.shape)


def lstm_step(emit, of_input, of_state, state):
    """From products with the input and with the state, in which gates lie side by side."""
    gates = cut(emit, added(emit, of_input, of_state), 1, [state[0].shape[1]] * 4)
    keep_in, keep, out = (emit.unary("sigmoid", gates[i]) for i in (0, 1, 3))
    cell = added(emit, times(emit, keep, state[1]), times(emit, keep_in, emit.unary("tanh", gates[2])))
    return times(emit, out, emit.unary("tanh", cell)), cell


def gru_step(emit, of_input, of_state, state):
    widths = [state[0].shape[1]] * 3
    (reset_x, update_x, new_x), (reset_h, update_h, new_h) = (cut(emit, x, 1, widths) for x in (of_input, of_state))
    reset, update = (emit.unary("sigmoid", added(emit, *pair)) for pair in ((reset_x, reset_h), (update_x, update_h)))
    new = emit.unary("tanh", added(emit, new_x, times(emit, reset, new_h)))
    gap = emit.apply("sub", [state[0], new], new.shape)
    return (added(emit, new, times(emit, update, gap)),)


def plain_step(activation):
    return lambda emit, of_input, of_state, state: (emit.unary(activation, added(emit, of_input, of_state)),)


STEPS = {"lstm": lstm_step, "gru": gru_step, "rnn_tanh": plain_step("tanh"), "rnn_relu": plain_step("relu")}


def direction(emit, step, x, state, weights, backward):
    """x [T, B, D] through one layer in one direction: (outputs of all steps, last state)."""
    of_x, of_h, bias_x, bias_h = weights
    products = linear(emit, x, of_x, bias_x)
    outputs = []
    for t in (range(x.shape[0] - 1, -1, -1) if backward else range(x.shape[0])):
        of_input = emit.reshape(emit.slice(products, 0, t, t + 1), products.shape[1:])
        state = step(emit, of_input, linear(emit, state[0], of_h, bias_h), state)
        outputs.append(state[0])
    return outputs[::-1] if backward else outputs, state


def stacked(emit, parts):
    return emit.cat([emit.reshape(x, (1,) + x.shape) for x in parts], 0)


def layers_of(parameters, has_biases, sides):
    """(input weight, state weight, biases) of each direction of each layer."""
    each = 4 if has_biases else 2
    rows = [list(parameters[i:i + each]) + [None] * (4 - each) for i in range(0, len(parameters), each)]
    return [rows[i:i + sides] for i in range(0, len(rows), sides)]


def recurrent(kind):
    def lower(emit, x, state, parameters, has_biases, layers, dropout, train, bidirectional, batch_first=None, *,
              shape):
        if batch_first is None or not isinstance(has_biases, bool):
            raise Unsupported("packed sequences are not written yet; give all sequences one length")
        states = [emit.tensor(s) for s in (state if kind == "lstm" else [state])]
        x, sides = emit.tensor(x), 2 if bidirectional else 1
        width = states[0].shape[-1]
        if any(s.shape[-1] != width for s in states) or len(parameters) != layers * sides * (4 if has_biases else 2):
            raise Unsupported("a recurrent layer with projections (proj_size) is not written yet")
        alone = len(x.shape) == 2  # no batch
        if alone:
            x = emit.reshape(x, (x.shape[0], 1, x.shape[1]))
            states = [emit.reshape(s, (s.shape[0], 1, s.shape[1])) for s in states]
        elif batch_first:
            x = emit.permute(x, [1, 0, 2])
        apart = [[emit.reshape(part, part.shape[1:]) for part in cut(emit, s, 0, [1] * s.shape[0])] for s in states]
        last = []
        for layer, rows in enumerate(layers_of(parameters, has_biases, sides)):
            outputs = []
            for side, weights in enumerate(rows):
                start = [s[layer * sides + side] for s in apart]
                of_side, end = direction(emit, STEPS[kind], x, start, weights, side == 1)
                outputs.append(stacked(emit, of_side))
                last.append(end)
            x = emit.cat(outputs, 2)
            if dropout > 0 and train and layer + 1 < layers:
                x = emit.dropped(x, dropout)
        ends = [stacked(emit, [end[i] for end in last]) for i in range(len(states))]
        if alone:
            return [emit.reshape(x, (x.shape[0], x.shape[2])), *(emit.reshape(e, (e.shape[0], width)) for e in ends)]
        return [emit.permute(x, [1, 0, 2]) if batch_first else x, *ends]
    return lower


def cell(kind):
    def lower(emit, x, state, of_x, of_h, bias_x=None, bias_h=None, *, shape):
        states = [emit.tensor(s) for s in (state if kind == "lstm" else [state])]
        products = linear(emit, emit.tensor(x), of_x, bias_x), linear(emit, states[0], of_h, bias_h)
        result = list(STEPS[kind](emit, *products, states))
        return result if kind == "lstm" else result[0]
    return lower


for kind in STEPS:
    lowers(kind)(recurrent(kind))
    lowers(f"{kind}_cell")(cell(kind))
