"""The exit codes of the command."""

AS_EXPECTED, NOT_AS_EXPECTED, INPUT_ERROR, INCOMPLETE, INTERNAL_ERROR = range(5)
