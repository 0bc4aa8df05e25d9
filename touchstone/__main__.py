"""`python -m touchstone` is the installed tool `touchstone`, where it is not on the path."""

from touchstone.ui.shell.tool import main

if __name__ == "__main__":
    main()
