"""What an export cannot do, said where the user can mend it."""


class ExportError(ValueError):
    """One line: the module, its source line, what ostraka ops/2 lacks, and a remedy."""


class Unsupported(Exception):
    """Raised by a lowering, which does not know where in the user's program it is; becomes an ExportError."""
