"""The proxy on the way to a server, as the environment has it."""

import base64
from typing import TYPE_CHECKING
from urllib.request import getproxies, proxy_bypass

from harness.model.address import host_of, is_loopback

if TYPE_CHECKING:
    import httpx2


def proxy_for(url: str) -> str | None:
    """The proxy that the environment names for `url`. Loopback traffic never goes to one."""
    host = host_of(url)
    if is_loopback(host) or proxy_bypass(host):
        return None
    proxies = getproxies()
    proxy = proxies.get(url.partition(":")[0]) or proxies.get("all")
    return proxy if not proxy or "://" in proxy else f"http://{proxy}"


def credentials(proxy: "httpx2.URL") -> dict[str, str]:
    """What a proxy is told of who we are: the name and password in its address."""
    if not proxy.username:
        return {}
    pair = f"{proxy.username}:{proxy.password}".encode()
    return {"Proxy-Authorization": f"Basic {base64.b64encode(pair).decode('ascii')}"}
