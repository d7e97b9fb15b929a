"""Parts that all pages share: templates, stylesheet, scripts, drawings, tables and headings."""
