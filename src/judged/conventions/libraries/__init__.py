"""One file per library: how it defines the names that it shares with judged."""
