"""How a run draws a parameter, guessed from the values that the module drew."""
import math

from ostraka_export.graph_text import float_text


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


