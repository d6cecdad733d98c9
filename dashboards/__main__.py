"""Write the generated files: ``python -m dashboards``."""

from dashboards.generate import main

if __name__ == "__main__":
    main()
