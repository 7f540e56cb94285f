"""No network, as a mechanism: an audit hook refuses internet sockets, libraries are told so."""

from __future__ import annotations

import os
import socket
import sys
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from core.errors import KnownError

#: Set before any library is imported that might ask a hub for something.
OFFLINE_ENVIRONMENT: Mapping[str, str] = MappingProxyType(
    {
        "HF_HUB_OFFLINE": "1",
        "TRANSFORMERS_OFFLINE": "1",
        "HF_DATASETS_OFFLINE": "1",
        "HF_HUB_DISABLE_TELEMETRY": "1",
        "DISABLE_TELEMETRY": "1",
        "DO_NOT_TRACK": "1",
        "TOKENIZERS_PARALLELISM": "false",
        "ORT_DISABLE_TELEMETRY": "1",
    }
)

_REFUSED_EVENTS = frozenset(
    {
        "socket.getaddrinfo",
        "socket.gethostbyname",
        "socket.gethostbyaddr",
        "socket.getnameinfo",
    }
)
_ADDRESSED_EVENTS = frozenset({"socket.connect", "socket.bind", "socket.sendto", "socket.sendmsg"})
_LOCAL_FAMILIES = frozenset({getattr(socket, "AF_UNIX", -1)})

_installed = False


class NetworkRefusedError(KnownError):
    """Something tried to reach a network."""

    def __init__(self, event: str) -> None:
        super().__init__(
            f"Something tried to reach a network ({event}) and was refused.",
            remedy="Rifugio works without one. Please report what you did.",
        )


def apply_offline_environment() -> None:
    """Set `OFFLINE_ENVIRONMENT` for this process and its children."""
    os.environ.update(OFFLINE_ENVIRONMENT)


def install_offline_guard() -> None:
    """Refuse every Python socket of this process other than local ones. It cannot be taken out again."""
    global _installed
    if not _installed:
        _installed = True
        sys.addaudithook(_refuse)


def _refuse(event: str, arguments: tuple[Any, ...]) -> None:
    if not event.startswith("socket."):
        return
    if event in _REFUSED_EVENTS:
        raise NetworkRefusedError(event)
    if event == "socket.__new__" and arguments[1] not in _LOCAL_FAMILIES:
        raise NetworkRefusedError(event)
    if event in _ADDRESSED_EVENTS and arguments[0].family not in _LOCAL_FAMILIES:
        raise NetworkRefusedError(event)
