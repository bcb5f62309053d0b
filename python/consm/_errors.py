"""The exceptions of the package. Each is also a standard exception."""
from __future__ import annotations


class ConsmError(Exception):
    """Base class of all errors of this package."""


class ConsmValueError(ConsmError, ValueError):
    """An argument, array or parameter has an impossible value."""


class ConsmTypeError(ConsmError, TypeError):
    """An argument has a type that consm cannot read."""


class ConsmKeyError(ConsmError, KeyError, ValueError):
    """No dataset, method, parameter or node has that name."""

    def __str__(self) -> str:  # KeyError would show the message in quotes
        return str(self.args[0]) if self.args else ""


class ConsmFormatError(ConsmError, ValueError):
    """The content of a file or an array is invalid."""


class ConsmOSError(ConsmError, OSError):
    """The system refused: open, read, write, download."""


class ConsmMemoryError(ConsmError, MemoryError):
    """There is not enough memory."""


class ConsmNumericError(ConsmError, ArithmeticError, ValueError):
    """A loss or a value became infinite or NaN."""


class ConsmWarning(UserWarning):
    """consm did something that may not be intended."""


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
