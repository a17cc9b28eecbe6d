"""Settings for the tests of the core."""


def pytest_configure(config):
    config.addinivalue_line("markers", "slow: takes minutes")
