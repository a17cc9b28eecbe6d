"""Gymnasium's classic control tasks, as native code with the same bits."""
