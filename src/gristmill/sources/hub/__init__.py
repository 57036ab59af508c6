"""Datasets on the Hugging Face hub: files listed once, downloaded shard by shard when a task reads them.

    listing.py   a dataset, a config and a split → its files
    chunks.py    files → chunks, cut without looking into them; and, in a worker, a chunk's piece → a local file
    asking.py    every request to the hub: retried when refused, few at a time

What is guaranteed: a shard is downloaded once, into the hub's own cache, and goes on where a download broke off; no
token is ever part of a message or a file of ours.
"""

from gristmill.sources.hub.chunks import chunks, fetched
from gristmill.sources.hub.listing import check_access

__all__ = ["check_access", "chunks", "fetched"]
