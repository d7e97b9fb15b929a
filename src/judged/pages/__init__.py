"""What everything that opens in a browser shares: templates, one stylesheet, small scripts, strips,
figures."""
