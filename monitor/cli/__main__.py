"""``python -m monitor.cli``: the ``groupwatch`` command without an installed script."""

from monitor.cli import main

if __name__ == "__main__":
    main()
