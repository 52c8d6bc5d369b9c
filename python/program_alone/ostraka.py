"""The wheel of ostraka for any Python: it has the command `ostraka`, and what is pure Python: ostraka.data and ostraka_export.read_tensors.

Rules, attacks, graphs and export are compiled for one CPython each, and are in the wheels for these.
"""
import sys

__version__ = "@VERSION@"
_COMPILED = frozenset(["Graph", "Memory", "Pipeline", "State", "aggregate", "attack", "attacks", "devices", "export",
                       "list_attacks", "list_pre", "list_rules", "mix", "rules"])


def __getattr__(name):
    if name == "data":
        import ostraka_data  # needs NumPy
        return ostraka_data
    if name not in _COMPILED:
        raise AttributeError(f"module 'ostraka' has no attribute '{name}'")
    tag = f"cp{sys.version_info.major}{sys.version_info.minor}"
    # An AttributeError would lose this text in `from ostraka import rules`.
    raise ImportError(f"ostraka.{name} is compiled, and this wheel is for any Python: it is in the release's file "
                      f"ostraka-{__version__}-{tag}-{tag}-*.whl if there is one, in Debian's package python3-ostraka, "
                      "or `pip install .` in the source folder builds it")
