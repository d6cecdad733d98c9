"""Numbers, ages and names as a person reads them on the page."""

from __future__ import annotations

from monitor.detection.messages.durations import age, lasted
from monitor.model.escaping import escaped

__all__ = ["age", "counted", "grouped", "lasted", "rate", "searchable", "visible"]


def grouped(count: int) -> str:
    """A count with its thousands apart.

    >>> grouped(1234567)
    '1,234,567'
    """
    return f"{count:,}"


def rate(per_second: float) -> str:
    """A rate with as many digits as tell something.

    >>> rate(12345.6), rate(12.34), rate(0.004), rate(0.0)
    ('12,346', '12.3', '0.004', '0')
    """
    if per_second >= 100:
        return f"{per_second:,.0f}"
    return f"{per_second:.3g}"


def visible(name: str) -> str:
    r"""A name with every character that cannot be seen written out, so that no two names look alike by it.

    >>> print(visible("orders"), visible("a\nb"), visible("\u202eabc"), visible(""))
    orders a\nb \u202eabc (empty name)
    """
    return escaped(name) or "(empty name)"


def searchable(text: str) -> str:
    r"""A name, or what somebody looks for in one, as both are compared: as it is shown, in any case.

    >>> searchable("\u202eOrders"), searchable("\\u202eORD") in searchable("\u202eOrders")
    ('\\u202eorders', True)
    """
    return escaped(text).casefold()


def counted(count: int, word: str) -> str:
    """A number with its noun.

    >>> counted(1, "group"), counted(1200, "group")
    ('1 group', '1,200 groups')
    """
    return f"{grouped(count)} {word}" if count == 1 else f"{grouped(count)} {word}s"
