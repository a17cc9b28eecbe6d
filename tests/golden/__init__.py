"""What upstream returned, recorded once: digests of 50 records each, so that most runs of the tests need not step it.

`tests.golden.digests` compares pools with them, and ``python -m tests.golden.make`` records them.
"""
