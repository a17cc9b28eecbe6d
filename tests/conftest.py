"""What holds for all tests."""

import signal

# A shell ignores Ctrl-C in what it runs in the background, and so would all that tests start: those tests would wait.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)
