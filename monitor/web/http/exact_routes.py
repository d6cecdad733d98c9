"""Apps with exact addresses: no answer is built from the header Host, in which a client writes what it likes.

Starlette redirects an address with a slash too many or too few to the other one, and builds that address from Host.
Here nothing is redirected: an address that does not exist is a 404.
"""

from __future__ import annotations

from collections.abc import Sequence

from starlette.applications import Starlette
from starlette.routing import BaseRoute
from starlette.types import ExceptionHandler


def exact_app(
    routes: Sequence[BaseRoute], exception_handlers: dict[type[Exception], ExceptionHandler] | None = None
) -> Starlette:
    """An app of these routes without redirects."""
    app = Starlette(routes=routes, exception_handlers=exception_handlers)
    app.router.redirect_slashes = False
    return app
