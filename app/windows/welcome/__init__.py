"""The welcome screen, its forms, and the work behind them."""

from app.windows.welcome.screen import Welcome

__all__ = ["Welcome"]
