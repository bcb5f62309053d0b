"""What can go wrong, as exceptions that other code already knows how to catch."""
from __future__ import annotations


class ConsmError(Exception):
    """Whatever consm has to complain about; the message is the library's own."""


class ConsmValueError(ConsmError, ValueError):
    """An argument, array or parameter has an impossible value."""


class ConsmTypeError(ConsmError, TypeError):
    """An argument is of a kind that consm cannot read."""


class ConsmKeyError(ConsmError, KeyError, ValueError):
    """No dataset, method, parameter or node of that name."""

    def __str__(self) -> str:  # KeyError would show the message in quotes
        return str(self.args[0]) if self.args else ""


class ConsmFormatError(ConsmError, ValueError):
    """A file or array does not hold what it should."""


class ConsmOSError(ConsmError, OSError):
    """The system refused: open, read, write, download."""


class ConsmMemoryError(ConsmError, MemoryError):
    """Memory could not be had, or would have to be more than there is."""


class ConsmNumericError(ConsmError, ArithmeticError, ValueError):
    """A loss or value turned non-finite."""


class ConsmWarning(UserWarning):
    """Something that consm did, and that may not be what was meant."""


class NotFittedError(ConsmError, ValueError, AttributeError):
    """The model was not trained yet: call fit first."""


BY_CODE: dict[int, type[ConsmError]] = {
    -1: ConsmMemoryError,
    -2: ConsmValueError,
    -3: ConsmOSError,
    -4: ConsmFormatError,
    -5: ConsmKeyError,
    -6: ConsmValueError,
    -7: ConsmNumericError,
    -8: ConsmError,
    -9: ConsmMemoryError,
}
