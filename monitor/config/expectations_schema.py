"""The JSON Schema of a file of expectations, docs/expectations.schema.json.

``python -m monitor.config.expectations_schema > docs/expectations.schema.json`` writes it; a test compares them.
"""

from __future__ import annotations

import json
import sys
from typing import Any

from monitor.config.expectations import ExpectationsFile


def expectations_schema() -> dict[str, Any]:
    """The schema."""
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **ExpectationsFile.model_json_schema()}


def main() -> None:
    """Write the schema to standard output."""
    sys.stdout.write(json.dumps(expectations_schema(), indent=2) + "\n")


if __name__ == "__main__":
    main()
