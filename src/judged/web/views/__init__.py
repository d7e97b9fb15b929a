"""One module for each page: a function `page` from what is asked to what is shown."""
