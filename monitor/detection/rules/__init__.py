"""The rules: each looks at the facts of one group and yields findings."""
