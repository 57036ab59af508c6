"""A small crawl to try the route on: made up by a generator, the same on every machine, its defects known by id."""

from gristmill.demo.corpus import SOURCES, DemoCorpus, Source
from gristmill.demo.manifest import prepare, write_corpus

__all__ = ["SOURCES", "DemoCorpus", "Source", "prepare", "write_corpus"]
