"""Makes the recipes of SmolLM3's three stages from a list of facts: names, hub ids, configs, weights, budgets.

    python tools/make_smollm3_recipes.py FACTS.yaml

FACTS: {tokenizer, sequence_length, stages: [{name, tokens: "8T-9T", datasets: [{name, hub, config, weight}]}]}. Run it
again when the facts change; the recipes are kept in the repository, because people read and edit them.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import yaml

FOLDER = Path(__file__).parents[1] / "src" / "gristmill" / "recipes"

# What a source is, told from its name: who judges it. The first that fits; all else is English text.
KINDS = (
    ("code", ("stack-edu", "stack-v2", "pull-requests", "kaggle", "jupyter-scripts", "github-issues", "text-code")),
    ("unspaced", ("fw2-cmn", "fw2-jpn", "fw2-tha", "multilingual_wiki")),
    ("vietnamese", ("fw2-vie",)),
    ("spaced", ("fw2-",)),
)
FILTERS = {
    "english": """filters:   # English and Vietnamese text, by the rules of the first pipeline
  - language: {keep: [en, vi], threshold: 0.65}
  - gopher_repetition:
      {max_duplicate_lines: 0.3, max_duplicate_paragraphs: 0.3, max_top_ngrams: {2: 0.25, 3: 0.25, 4: 0.25}}
  - gopher_quality: {min_words: 20, max_words: 200000, min_alphabetic_words_ratio: 0.8}
  - spam: {}
""",
    "vietnamese": "[language: {keep: [en, vi], threshold: 0.65}, gopher_repetition: {}, spam: {}]",
    "spaced": "[language: {keep: any}, gopher_repetition: {}]",
    "unspaced": "[language: {keep: any}]",
    "code": "[language: {keep: any}]",
}
NOTES = {
    "vietnamese": "Gopher quality's stop words are English",
    "spaced": "other languages: Gopher quality and spam know English words only",
    "unspaced": "no blanks between words: n-grams of words mean little there",
    "code": "code is not prose: only its language label is kept as a signal",
}
HEAD = """\
# SmolLM3's published pretraining mixture, {title}. Made by tools/make_smollm3_recipes.py.
#   gristmill run {name} --output O --tokenizer TOKENIZER.json --scale 1e-6
# `--scale` makes the budget fit what there is, `--max-datasets 5` takes the first sources only, `--local-root DIR`
# reads DIR/ORG/NAME/CONFIG instead of the hub. Weights that do not sum to 1 are divided by their sum, which is
# reported. Some hub ids are gated, and stack-edu and the-stack-v2 publish ids of files, not their text: such sources
# need a mirror with a column `text`.
"""


def kind_of(name: str) -> str:
    """Who judges a source of that name."""
    return next((kind for kind, parts in KINDS if any(part in name for part in parts)), "english")


def source_line(dataset: dict[str, Any], seen: set[str], weighted: bool) -> str:
    """One source; the first of a kind carries its filters, the others refer to them."""
    parts = [f"name: {dataset['name']}", f"dataset: {dataset['hub']}"]
    if dataset["config"]:
        parts.append(f"config: {dataset['config']}")
    if weighted:
        parts.append(f"weight: {dataset['weight']}")
    kind, comment = kind_of(dataset["name"]), ""
    if kind != "english":
        parts.append(f"filters: *{kind}" if kind in seen else f"filters: &{kind} {FILTERS[kind]}")
        comment = "" if kind in seen else f"  # {NOTES[kind]}\n"
        seen.add(kind)
    return f"{comment}  - {{{', '.join(parts)}}}\n"


def budget(tokens: str) -> str:
    """0-8T → 8T; 8T-9T → 1T."""
    begin, end = (int(part.removesuffix("T")) for part in tokens.split("-"))
    return f"{end - begin}T"


def recipe(facts: dict[str, Any], stages: list[dict[str, Any]], name: str, title: str) -> str:
    """The text of one recipe."""
    staged = len(stages) > 1
    text, seen = HEAD.format(title=title, name=name), set[str]()
    text += "sources:\n"
    listed: set[str] = set()
    for stage in stages:
        for dataset in stage["datasets"]:
            if dataset["name"] not in listed:
                text += source_line(dataset, seen, weighted=not staged)
                listed.add(dataset["name"])
    text += "clean: [unicode, strip]\n" + FILTERS["english"]
    text += "dedup:\n  - exact: {}\n"
    text += f"tokenizer: {{hub: {facts['tokenizer']}}}\n"
    if staged:
        text += "mixture:   # documents drawn in one stage are not drawn again in the next\n"
        text += "  max_epochs: 4\n  when_exhausted: redistribute\n  seed: 1\n  stages:\n"
        for stage in stages:
            text += f"    - name: {stage['name']}\n      tokens: {budget(stage['tokens'])}\n      weights:\n"
            text += "".join(f"        {dataset['name']}: {dataset['weight']}\n" for dataset in stage["datasets"])
    else:
        tokens = budget(stages[0]["tokens"])
        text += f"mixture: {{tokens: {tokens}, max_epochs: 4, when_exhausted: redistribute, seed: 1}}\n"
    text += f"pack: {{strategy: best_fit, sequence_length: {facts['sequence_length']}}}\n"
    return text + f"output: {{path: out/{name}}}\n"


def main() -> None:
    facts = yaml.safe_load(Path(sys.argv[1]).read_text(encoding="utf-8"))
    for stage in facts["stages"]:
        name = f"smollm3-{stage['name']}"
        title = f"{stage['name']}: {len(stage['datasets'])} sources, tokens {stage['tokens']}"
        (FOLDER / f"{name}.yaml").write_text(recipe(facts, [stage], name, title), encoding="utf-8")
    title = "all three stages in sequence"
    (FOLDER / "smollm3.yaml").write_text(recipe(facts, facts["stages"], "smollm3", title), encoding="utf-8")


if __name__ == "__main__":
    main()
