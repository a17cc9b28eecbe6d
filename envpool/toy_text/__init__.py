"""Gymnasium's toy text tasks, Catch and NChain, as native code with the same bits."""
