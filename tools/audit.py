"""List the installed packages with their licences, and ask the package index for known vulnerabilities.

Use it as ``make audit`` or ``python course.py audit``.  The licences come from the packages' own metadata.  The
vulnerabilities come from the index's JSON pages, where there are any; without a network one sentence says so.
"""

import json
import os
import re
import sys
import urllib.error
import urllib.parse
import urllib.request
from collections import defaultdict
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from importlib import metadata
from subprocess import run
from typing import Any

PUBLIC = "https://pypi.org/simple"
SECONDS = 20
# Long licence texts in the place of a name, and classifiers, in one word.
SHORT = {
    "BSD License": "BSD",
    "MIT License": "MIT",
    "Apache Software License": "Apache-2.0",
    "The MIT License": "MIT",
}


def licence_of(found: Mapping[str, Any], classifiers: list[str]) -> str:
    """Give the name of a package's licence.

    Parameters
    ----------
    found : mapping
        The package's metadata.
    classifiers : list of str
        Its classifiers.

    Returns
    -------
    str
        The SPDX expression where there is one, else the classifier, else the first line of the licence field.
    """
    expression = found.get("License-Expression")
    named = [line.split(" :: ")[-1] for line in classifiers if line.startswith("License :: ")]
    first = (found.get("License") or "").strip().split("\n")[0]
    name = expression or ", ".join(named) or first or "not stated"
    return SHORT.get(name, name)


def packages() -> dict[str, tuple[str, str]]:
    """List what is installed.

    Returns
    -------
    dict
        (version, licence) by name.
    """
    return {
        re.sub(r"[-_.]+", "-", package.metadata["Name"]).lower(): (
            package.version,
            licence_of(package.metadata, package.metadata.get_all("Classifier") or []),
        )
        for package in metadata.distributions()
    }


def index() -> str:
    """Give the address under which the configured package index serves JSON pages."""
    said = run([sys.executable, "-m", "pip", "config", "get", "global.index-url"], capture_output=True, text=True)
    simple = os.environ.get("PIP_INDEX_URL") or said.stdout.strip() or PUBLIC
    return re.sub(r"/simple/?$", "", simple) + "/pypi"


def vulnerabilities(name: str, version: str, where: str) -> list[dict[str, Any]] | None:
    """Ask the index what is known against one version of a package.

    Parameters
    ----------
    name, version, where : str
        The package, and the address of the JSON pages.

    Returns
    -------
    list of dict or None
        None where the index does not answer in that form.
    """
    address = f"{where}/{urllib.parse.quote(name)}/{urllib.parse.quote(version)}/json"
    try:
        with urllib.request.urlopen(address, timeout=SECONDS) as answer:
            return list(json.load(answer)["vulnerabilities"])
    except (OSError, ValueError, KeyError, urllib.error.URLError):
        return None


def main() -> int:
    """Print licences and vulnerabilities.

    Returns
    -------
    int
        1 if a vulnerability is known, else 0.
    """
    installed = packages()
    by_licence = defaultdict(list)
    for name, (_, licence) in sorted(installed.items()):
        by_licence[licence].append(name)
    for licence, names in sorted(by_licence.items(), key=lambda pair: (-len(pair[1]), pair[0])):
        print(f"{licence} ({len(names)}): {', '.join(names)}")
    print(f"{len(installed)} packages, {len(by_licence.get('not stated', []))} without a stated licence")

    where = index()
    with ThreadPoolExecutor(8) as pool:
        answers = dict(
            zip(
                installed,
                pool.map(lambda name: vulnerabilities(name, installed[name][0], where), installed),
                strict=True,
            )
        )
    known = {name: found for name, found in answers.items() if found is not None}
    if not known:
        print("The package index gives no data on vulnerabilities here: run this again where it does.")
        return 0
    live = [
        (name, entry) for name, entries in sorted(known.items()) for entry in entries if not entry.get("withdrawn")
    ]
    for name, entry in live:
        fixed = ", ".join(entry.get("fixed_in") or []) or "no version yet"
        print(f"{name} {installed[name][0]}: {entry.get('id')} {entry.get('summary') or ''} (mended in {fixed})")
    print(f"{len(live)} known vulnerabilities in {len(known)} packages; no answer on {len(answers) - len(known)}")
    return int(bool(live))


if __name__ == "__main__":
    sys.exit(main())
