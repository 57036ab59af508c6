"""Where outputs lie: a folder that everybody sees, or an address with a folder on each machine that stands for it.

place.py       a folder; and what any place can do
mirror.py      an address: files fetched before a task, written after it, records last
addresses.py   asking servers patiently
opened.py      finished runs at an address, read through the folder that stands for it
"""
