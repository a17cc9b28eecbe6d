"""Options of the command line that are the fields of a dataclass."""

import argparse
import sys
from dataclasses import field, fields


def option(default, text, parse=None, **more):
    """Return a field of a dataclass of options.

    Parameters
    ----------
    default : object
        The default.
    text : str
        The help text.
    parse : callable, optional
        Converts the text of the command line, by default the type of the default.
    **more
        Further arguments of ``argparse.ArgumentParser.add_argument``.
    """
    return field(default=default, metadata={"help": text, "type": parse or type(default), "more": more})


def positive(text):
    """Return a positive integer."""
    if int(text) < 1:
        raise argparse.ArgumentTypeError(f"{text} is not a positive integer")
    return int(text)


def parse_args(argv, args_class):
    """Return the command line as an object of the dataclass `args_class`."""
    parser = argparse.ArgumentParser(description=sys.modules[args_class.__module__].__doc__.splitlines()[0])
    for f in fields(args_class):
        flag, text = f"--{f.name.replace('_', '-')}", f.metadata["help"]
        if f.default is False:
            parser.add_argument(flag, action="store_true", help=text)
        else:
            text += "" if f.default is None else f" (default: {f.default})"
            parser.add_argument(flag, type=f.metadata["type"], default=f.default, help=text, **f.metadata["more"])
    return args_class(**vars(parser.parse_args(argv)))
