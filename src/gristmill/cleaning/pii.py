"""Personal data away: e-mail addresses and IP addresses become placeholders, where datatrove's PIIFormatter says so."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from gristmill.document import buffers, strings

if TYPE_CHECKING:
    from gristmill.kernels.addresses import Spans

# datatrove's: the first two are kept as examples by their owners, the others answered nobody when they were chosen.
_EMAILS = ("email@example.com", "firstname.lastname@example.org")
_IPS = ("22.214.171.124", "126.96.36.199", "188.8.131.52", "184.108.40.206", "220.127.116.11", "18.104.22.168")


@dataclass(frozen=True)
class Pii:
    """Replaces what datatrove 0.10.1's PIIFormatter replaces, with its parameters, names and defaults.

    remove_emails, remove_ips       which of the two
    only_remove_public_ips          leave private and reserved addresses (10.0.0.1) alone
    email_replacement,              one text, or several that take turns; datatrove's turns go on from document to
    ip_replacement                  document, ours begin anew in each, so that no text depends on another

    E-mail addresses go first, and IP addresses are looked for in what that leaves. What looks like an address is one:
    `2.5.29.15` in a text on certificates goes, too. IPv6 addresses stay, as with datatrove.
    """

    VERSION: ClassVar[int] = 1

    remove_emails: bool = True
    remove_ips: bool = True
    only_remove_public_ips: bool = True
    email_replacement: str | Sequence[str] = _EMAILS
    ip_replacement: str | Sequence[str] = _IPS

    def __post_init__(self) -> None:
        for name in ("email_replacement", "ip_replacement"):
            given = getattr(self, name)
            texts = (given,) if isinstance(given, str) else tuple(given)
            if not texts or not all(isinstance(text, str) for text in texts):
                raise ValueError(f"expected `{name}` to be a text or a list of texts, found {given!r}")
            object.__setattr__(self, name, texts)

    def clean(self, texts: Any) -> Any:
        """large_string → large_string. A batch without addresses is passed on uncopied."""
        from gristmill.kernels.addresses import find_addresses, find_public_addresses
        from gristmill.kernels.emails import find_emails

        if self.remove_emails:
            texts = _replaced(texts, find_emails(*buffers(texts)), self.email_replacement)
        if self.remove_ips:
            find = find_public_addresses if self.only_remove_public_ips else find_addresses
            texts = _replaced(texts, find(*buffers(texts)), self.ip_replacement)
        return texts


def _replaced(texts: Any, spans: Spans, placeholders: Sequence[str]) -> Any:
    from gristmill.kernels.splice import splice

    if not len(spans.starts):
        return texts
    return strings(*splice(*buffers(texts), *spans, placeholders))
