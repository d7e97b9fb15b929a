"""What everything that opens in a browser shares: templates, one stylesheet, small scripts, strips,
figures."""

from __future__ import annotations

from judged.web.pages.templating import environment, render

__all__ = ["environment", "render"]
