"""What a training program needs besides the environments and the algorithm: its command line, curves, TensorBoard.

The programs in ``examples/`` use these modules, so that a copy of one of them needs no other file. matplotlib and
tensorboard are imported when they are used; ``pip install 'envpool-cython[examples]'`` installs them.
"""
