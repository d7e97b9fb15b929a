"""`python -m judged` is the command line."""

from judged.cli import main

if __name__ == "__main__":
    main()
