# Nothing of it is visible from Python.
