"""krill's configs, carried out by our route: schema.py reads them, translate.py makes a recipe of one, prepared.py
writes the rows as the Hugging Face dataset that krill's trainer loads."""
