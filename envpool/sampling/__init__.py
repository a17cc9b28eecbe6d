"""Random actions and the generators behind them, for pools, rollouts, benchmarks and comparisons."""
