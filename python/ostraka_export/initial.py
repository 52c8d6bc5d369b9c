"""How a run draws a parameter, guessed from the values that the module drew."""
import math

import torch

from ostraka_export.graph_text import float_text

MOST_VALUES = 1 << 16  # that a guess is tested with
GAP = 0.05             # between distributions, which a law may have
RARE_GAP = 2.2         # times the root of how many values: one in 10,000 that a law drew has a larger one
EVEN = 1e-3            # steps between sorted values that a person spaced evenly
ONE_SIDED = 16         # values of one sign: one in 30,000 that a law drew


def rounded(value):
    """Two significant digits: a law that a person wrote, not a sample's."""
    return float(f"{value:.1e}")


def law_of(values):
    """"zeros", "ones", "uniform BOUND" or "normal DEVIATION" for a parameter's values.

    A uniform law's greatest magnitude is sqrt(3) deviations; a normal one's is above that for all but tiny tensors.
    """
    flat = values.detach().flatten().double()
    if bool((flat == 0).all()):
        return "zeros"
    if bool((flat == 1).all()):
        return "ones"
    deviation = math.sqrt(float((flat * flat).mean()))
    largest = float(flat.abs().max())
    if largest <= 2 * deviation and flat.numel() >= 8:
        return f"uniform {float_text(rounded(largest))}"
    return f"normal {float_text(rounded(deviation))}"


def could_draw(law, values):
    """Whether values look drawn by law_of(values): by the largest gap between the distributions (Kolmogorov, Smirnov).

    Rows of zeros, which padding leaves, say nothing.
    """
    if law in ("zeros", "ones"):
        return True
    values = values.detach()
    if values.dim() > 1:
        rows = values.flatten(1)
        values = rows[rows.any(1)]
    flat = values.flatten()
    flat = flat[::-(-flat.numel() // MOST_VALUES)].double().sort().values
    count = flat.numel()
    steps = flat.diff()
    if count < 2 or (count >= 3 and bool((steps - steps.mean()).abs().max() <= EVEN * steps.mean())):
        return False
    if bool(flat[0] == flat[-1]) or (count >= ONE_SIDED and bool(flat[0] * flat[-1] > 0)):
        return False
    if law.startswith("uniform"):
        below = (flat / flat.abs().max() + 1) / 2
    else:
        below = (torch.erf(flat / flat.square().mean().sqrt() / math.sqrt(2)) + 1) / 2
    places = torch.arange(count + 1, dtype=torch.float64) / count
    gap = max(float((below - places[:-1]).max()), float((places[1:] - below).max()))
    return gap <= max(GAP, RARE_GAP / math.sqrt(count))


def check_law(text):
    """ValueError unless a graph file can say it."""
    words = text.split(" ") if isinstance(text, str) else []
    if text in ("zeros", "ones"):
        return text
    if len(words) == 2 and words[0] in ("normal", "uniform"):
        try:
            scale = float(words[1])
        except ValueError:
            scale = math.nan
        if math.isfinite(scale) and scale > 0:
            return f"{words[0]} {float_text(scale)}"
    raise ValueError(f"initial {text!r}: zeros, ones, 'normal DEVIATION' or 'uniform BOUND'")
