"""Side-by-side benchmarks: judged and its peers in one run, a fresh process each. `python -m bench
--help`."""
