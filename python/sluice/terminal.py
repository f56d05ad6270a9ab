"""What may be printed of text that came from outside, such as a file's name in a log."""
import re


def printable(text: str) -> str:
    """Control characters as \\xNN: they move no cursor and begin no line of their own."""
    return re.sub(r"[\x00-\x1f\x7f-\x9f]", lambda found: f"\\x{ord(found[0]):02x}", text)
