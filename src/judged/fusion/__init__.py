"""Several runs made one."""
