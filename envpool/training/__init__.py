"""Parts of training programs besides environments and algorithms: options, curves, TensorBoard, checkpoints.

The programs in ``examples/`` use these modules, so that copies of them need few other files, or none. matplotlib, torch
and tensorboard are imported when they are used; ``pip install 'envpool-cython[examples]'`` installs them.
"""
