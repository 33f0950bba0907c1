"""Break attnlib on purpose, one place at a time: each break must turn a test red, and the claims' notebooks too.

A claim is one of the sentences that a chapter's recap says aloud, `05.2` for the second of chapter 05. Each mutant
names the claim that it makes false. `make mutants` breaks a copy of the course, runs the tests that know the broken
module and the notebook of the claim, and stores what it saw in `library_mutants.json`. `make test` only checks that
this file still belongs to this table and that nothing survived without a reason.
"""

import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[1]
RESULTS = Path(__file__).with_suffix(".json")
WORKERS = 2
LIMIT = 300
"""seconds that one run of pytest may take: a mutant that never ends is red too"""


class Mutant(NamedTuple):
    """One change: in the file `module`, `old` (which is there once) becomes `new`, and `claim` is no longer true."""

    module: str
    old: str
    new: str
    claim: str

    @property
    def key(self):
        """Name the mutant by what it changes, so that a stored result cannot belong to another."""
        text = "\0".join((self.module, self.old, self.new))
        return f"{self.module}:{hashlib.sha256(text.encode()).hexdigest()[:8]}"

    @property
    def shown(self):
        """Say the change in one line."""
        return " ".join(f"{self.old.strip()} => {self.new.strip()}".split())


MUTANTS = [
    Mutant(*row)
    for row in [
        # 01: text, tokens, rows, positions
        ("tokens", "np.array([self._place[token] for token in tokens], dtype=int)",
         "np.array(sorted(self._place[token] for token in tokens), dtype=int)", "01.1"),
        ("tokens", "return table[as_whole_numbers(", "return 2 * table[as_whole_numbers(", "01.1"),
        ("tokens", "np.put_along_axis(rows, places[..., None], 1, axis=-1)",
         "np.put_along_axis(rows, size - 1 - places[..., None], 1, axis=-1)", "01.1"),
        ("tokens", "return [self.tokens[i] for i in", "return [self.tokens[i - 1] for i in", "10.3"),
        ("tokens", "self.tokens = _texts(\"Vocabulary\", tokens)",
         "self.tokens = tuple(sorted(_texts(\"Vocabulary\", tokens)))", "01.2"),
        ("positions", "positions[:, 0::2] = np.sin(angle)", "positions[:, 0::2] = np.cos(angle)", "01.3"),
        ("positions", "positions[:, 1::2] = np.cos(angle)", "positions[:, 1::2] = -np.sin(angle)", "01.3"),
        ("positions", "10000.0 **", "100.0 **", "01.3"),
        ("positions", "np.arange(n)[:, None] * speed", "np.arange(1, n + 1)[:, None] * speed", "01.3"),
        # 02, 03: products and directions
        ("similarity", "return A @ B.swapaxes(-1, -2)\n", "return B @ A.swapaxes(-1, -2)\n", "02.2"),
        ("similarity", "return A @ B.swapaxes(-1, -2)\n", "return A @ A.swapaxes(-1, -2)\n", "02.3"),
        ("similarity", "return A @ B.swapaxes(-1, -2)\n", "return 0 * (A @ B.swapaxes(-1, -2)) + 1\n", "02.1"),
        ("similarity", "return A @ B.swapaxes(-1, -2)\n",
         "return _directions(\"A\", A) @ _directions(\"B\", B).swapaxes(-1, -2)\n", "03.1"),
        ("similarity", "return A @ B.swapaxes(-1, -2)\n", "return (A @ B.swapaxes(-1, -2)).swapaxes(-1, -2)\n", "03.3"),
        ("similarity", "products = _directions(\"A\", A) @ _directions(\"B\", B).swapaxes(-1, -2)",
         "products = A @ B.swapaxes(-1, -2)", "03.2"),
        ("similarity", "products = _directions(\"A\", A) @", "products = A @", "03.2"),
        ("similarity", "return rows / np.sqrt((rows * rows).sum(axis=-1, keepdims=True))",
         "return rows / np.abs(rows).sum(axis=-1, keepdims=True)", "12.3"),
        ("similarity", "return np.clip(products, -1, 1)", "return np.abs(np.clip(products, -1, 1))", "03.1"),
        # 04, 05: softmax
        ("softmax", "np.exp(weights, out=weights)", "np.exp2(weights, out=weights)", "05.1"),
        ("softmax", "np.exp(weights, out=weights)", "np.square(weights, out=weights)", "05.1"),
        ("softmax", "weights = np.subtract(x, top, out=out)", "weights = np.add(x, 0 * top, out=out)", "05.2"),
        ("softmax", "top = x.max(axis=-1, keepdims=True, initial=lowest)", "top = x.min(axis=-1, keepdims=True)", "05.2"),
        ("softmax", "total = np.einsum(\"...j->...\", weights)[..., None]", "total = weights.sum(axis=0, keepdims=True)",
         "05.3"),
        ("softmax", "total = np.einsum(\"...j->...\", weights)[..., None]", "total = weights.max(axis=-1, keepdims=True)",
         "02.2"),
        ("softmax", "weights /= np.maximum(total, 1)", "pass", "05.3"),
        ("softmax", "keepdims=True, initial=lowest)", "keepdims=True)", "08.1"),
        ("softmax", "weights /= np.maximum(total, 1)", "weights /= total", ""),
        ("softmax", "np.eye(w.shape[-1], dtype=w.dtype) - w[..., None, :])",
         "np.eye(w.shape[-1], dtype=w.dtype) + w[..., None, :])", "04.2"),
        ("pictures", "from {xlabel} = {xs[0]:g} to {xs[-1]:g}. ", "from {xlabel} = {xs[0]:g} to {xs[-2]:g}. ", "04.1"),
        ("softmax", "np.eye(w.shape[-1], dtype=w.dtype) - w[..., None, :])",
         "np.eye(w.shape[-1], dtype=w.dtype))", "05.3"),
        ("softmax", "logs = np.log2(", "logs = np.log(", "04.3"),
        # 04, 06: attention
        ("attention", "factor = 1 / math.sqrt(Q.shape[-1]) if scale is None",
         "factor = 1.0 if scale is None", "06.2"),
        ("attention", "factor = 1 / math.sqrt(Q.shape[-1]) if scale is None",
         "factor = 1 / Q.shape[-1] if scale is None", "06.1"),
        ("attention", "factor = 1 / math.sqrt(Q.shape[-1]) if scale is None",
         "factor = 1 / math.sqrt(K.shape[-2]) if scale is None", "07.1"),
        ("attention", "scores = Q @ K.swapaxes(-1, -2)", "scores = -Q @ K.swapaxes(-1, -2)", "06.2"),
        ("attention", "output = weights @ V", "output = masked @ V", "06.1"),
        ("attention", "output = weights @ V", "output = weights.swapaxes(-1, -2) @ V if n_queries == n_keys else weights @ V",
         "06.2"),
        ("attention", "Q, K, V, factor = as_attention(\"attention\", Q, K, V, scale)",
         "Q, K, V, factor = as_attention(\"attention\", K if np.shape(K) == np.shape(Q) else Q, K, V, scale)", "06.2"),
        ("attention", "weights = shares_of_exp(masked)",
         "weights = shares_of_exp(masked + np.arange(n_keys, dtype=Q.dtype))", "06.3"),
        ("attention", "weights = shares_of_exp(masked)",
         "weights = shares_of_exp(scaled) if allowed is None else shares_of_exp(scaled) * np.isfinite(masked)", "08.1"),
        ("attention", "weights = shares_of_exp(masked)", "weights = shares_of_exp(scaled)", "08.2"),
        ("attention", "return np.where(mask, scaled,", "return np.where(~mask, scaled,", "08.2"),
        ("attention", "scaled.dtype.type(-np.inf))", "scaled.dtype.type(0))", "08.1"),
        ("attention", "    return scaled + mask\n", "    return scaled - mask\n", "08.1"),
        ("attention", "return mask & allowed", "return mask | allowed", "08.2"),
        ("attention", "allowed = both(allowed, causal_mask(n_queries, n_keys))",
         "allowed = both(allowed, causal_mask(n_queries, n_keys) | True)", "08.2"),
        ("attention", "np.multiply(scores[head], Q.dtype.type(factor), out=scaled[head])", "scaled[head] = scores[head]", ""),
        ("attention", "masked[head] = apply_mask(scaled[head], mask[head])", "masked[head] = scaled[head]", ""),
        ("attention", "np.matmul(weights[head], V[head], out=output[head])", "np.matmul(weights[head], V[head[:0]], out=output[head])", ""),
        # 07: heads
        ("heads", "cut = X.reshape(*leading, n, num_heads, width // num_heads)  # (..., n, heads, d)\n"
         "    return cut.swapaxes(-2, -3)", "return X.reshape(*leading, num_heads, n, width // num_heads)", "07.2"),
        ("heads", "return cut.swapaxes(-2, -3)", "return cut.swapaxes(-2, -3)[..., ::-1, :, :]", "07.2"),
        ("heads", "return H.swapaxes(-2, -3).reshape(*leading, n, num_heads * d)",
         "return H.reshape(*leading, n, num_heads * d)", "07.2"),
        ("heads", "heads = attention(Q, K, V, allowed, causal=causal)",
         "heads = attention(Q.mean(-3, keepdims=True) + 0 * Q, K, V, allowed, causal=causal)", "07.1"),
        ("heads", "heads = attention(Q, K, V, allowed, causal=causal)", "heads = attention(Q, K, V, allowed)", "08.2"),
        ("heads", "project(who, \"the output\", merge_heads(heads.output), self.W_O)", "merge_heads(heads.output)", "07.3"),
        ("heads", "project(who, \"V\", source, self.W_V)", "project(who, \"V\", source, self.W_K)", "07.3"),
        ("heads", "project(who, \"K\", source, self.W_K)", "project(who, \"K\", queries, self.W_K)", "08.3"),
        ("heads", "K, V = np.repeat(K, share, axis=-3), np.repeat(V, share, axis=-3)",
         "K, V = np.concatenate([K] * share, axis=-3), np.concatenate([V] * share, axis=-3)", "11.2"),
        # 08: masks
        ("masks", "k=n_keys - n_queries, dtype=bool)", "k=n_keys - n_queries - 1, dtype=bool)", "08.1"),
        ("masks", "k=n_keys - n_queries, dtype=bool)", "k=n_keys - n_queries + 1, dtype=bool)", "08.2"),
        ("masks", "k=n_keys - n_queries, dtype=bool)", "k=0, dtype=bool)", "11.2"),
        ("masks", "np.arange(n) < counts", "np.arange(n) <= counts", "08.2"),
        ("masks", "np.arange(n) < counts", "np.arange(n) >= counts", "08.2"),
        ("attention", "scores = Q @ K.swapaxes(-1, -2)", "scores = K @ Q.swapaxes(-1, -2)", "08.3"),
        # 09: gradients and learning
        ("gradients", "return weights * (d_weights - mean)", "return weights * d_weights", "09.1"),
        ("gradients", "mean = (weights * d_weights).sum(axis=-1", "mean = (weights * d_weights).mean(axis=-1", "09.1"),
        ("gradients", "d_scores = factor * d_scaled", "d_scores = 1.0 * d_scaled", "09.3"),
        ("gradients", "dQ = d_scores @ K ", "dQ = d_scores.swapaxes(-1, -2) @ K if Q.shape == K.shape else d_scores @ K ",
         "09.1"),
        ("gradients", "dK = d_scores.swapaxes(-1, -2) @ Q", "dK = -d_scores.swapaxes(-1, -2) @ Q", "09.2"),
        ("gradients", "dV = result.weights.swapaxes(-1, -2) @ d_output", "dV = 2 * result.weights.swapaxes(-1, -2) @ d_output",
         "09.1"),
        ("gradients", "sums = [np.bincount(places.ravel(), weights=column", "sums = [np.bincount(places.ravel(), weights=-column", "09.2"),
        ("gradients", "d_logits -= np.arange(logits.shape[-1]) == at_target", "pass", "09.2"),
        ("gradients", "d_logits /= places.size", "pass", "09.2"),
        ("gradients", ".reshape(X.shape), rows.T @ d_rows", ".reshape(X.shape), -rows.T @ d_rows", "09.2"),
        ("gradients", "/ (2 * step)", "/ step", "09.1"),
        ("gradients", "gradient = gradient.sum(axis=added)", "gradient = gradient.mean(axis=added)", ""),
        ("senses", "found[\"table\"] += d_table", "found[\"table\"] = d_table", "09.2"),
        ("adamw", "parameter -= self.rate * unbiased_mean", "parameter += self.rate * unbiased_mean", "09.2"),
        ("adamw", "unbiased_mean = mean / (1 - beta_1**self.steps)", "unbiased_mean = mean", "09.2"),
        ("adamw", "square += (1 - beta_2) * gradient**2", "square += (1 - beta_2) * np.abs(gradient)", "09.2"),
        ("adamw", "parameter *= 1 - self.rate * self.decay", "pass", "09.2"),
        ("adamw", "size * size, parameter.dtype,", "size, parameter.dtype,", ""),
        ("adamw", "if not reach < MODERATE:", "if False:", ""),
        ("adamw", "steepest = max(steepest, size)", "steepest = size", ""),
        ("gradients", "    if stays.any():\n", "    if False:\n", ""),
        ("senses", "output = attention(Q, K, V, scale=self.scale).output  # (b, 1, d)",
         "output = attention(Q, K, V).output", "09.3"),
        # 10: the block
        ("layers", "X.var(axis=-1, keepdims=True) + eps", "X.var(axis=0, keepdims=True) + eps", "10.1"),
        ("layers", "return (X - X.mean(axis=-1, keepdims=True)) / deviation", "return X / deviation", "10.1"),
        ("layers", "return gain * normal + bias", "return normal + bias", ""),
        ("layers", "return np.maximum(x, 0)", "return np.abs(x)", "10.1"),
        ("layers", "- through_mean - through_deviation", "- through_mean", "10.3"),
        ("layers", "return np.where(x > 0, d_output, 0)", "return np.where(x < 0, d_output, 0)", "10.3"),
        ("layers", "share = erf(x / math.sqrt(2))", "share = erf(x)", "12.1"),
        ("block", "X = X + self._project(merge_heads(", "X = self._project(merge_heads(", "10.1"),
        ("block", "X = X + feed_forward(", "X = feed_forward(", "10.1"),
        ("block", "X + sinusoidal_positions(*X.shape[-2:]) if self.use_positions else X", "X", "10.3"),
        ("block", "return attention(*self._projections(X), causal=True)", "return attention(*self._projections(X))", "10.3"),
        ("gradients", "d_weights = d_output @ V.swapaxes(-1, -2)", "d_weights = 0 * (d_output @ V.swapaxes(-1, -2))", "10.2"),
        ("gradients", "dV = result.weights.swapaxes(-1, -2) @ d_output", "dV = d_output.sum(-2, keepdims=True) + 0 * V", "10.2"),
        ("block", "d_X1 = d_X2 + d_through", "d_X1 = d_through + 0 * d_X2", "10.3"),
        ("block", "self.logits(seen)[0, -1].argmax()", "self.logits(seen)[0, 0].argmax()", "10.3"),
        # 11: costs
        ("blockwise", "total = total * np.exp(top - new_top) + np.exp(part",
         "total = total + np.exp(part", "11.1"),
        ("blockwise", "new_top = np.maximum(top, part.max(axis=-1, keepdims=True))",
         "new_top = part.max(axis=-1, keepdims=True)", "11.1"),
        ("blockwise", "output *= correction", "pass", "11.1"),
        ("blockwise", "total *= correction", "pass", "11.1"),
        ("blockwise", "raised *= raised.dtype.type(factor)", "pass", "11.3"),
        ("blockwise", "k=n_seen - 1, dtype=bool)", "k=n_seen, dtype=bool)", "11.3"),
        ("blockwise", "output /= np.maximum(total, 1)", "pass", "11.1"),
        ("blockwise", "output /= np.maximum(total, 1)", "output /= total", ""),
        ("blockwise", "if columns.start == 0:", "if True:", "11.1"),
        ("blockwise", "np.maximum(old_top, top, out=top)", "pass", ""),
        ("blockwise", "np.copyto(scaled, -np.inf, where=~mask)", "np.copyto(scaled, -np.inf, where=mask)", ""),
        ("blockwise", "last = min(n_keys, n_seen + n_queries - 1)", "last = n_keys", ""),
        ("cache", "result = attention(Q, K, V, causal=True, scale=scale)", "result = attention(Q, K, V, scale=scale)", ""),
        ("cache", "view = buffer[..., : self._length, :]", "view = buffer[..., :1, :]", "11.2"),
        ("cache", "larger[..., :room, :] = buffer", "larger[..., :room, :] = 0", "11.2"),
        ("cache", "max(n, 2 * room)", "n", ""),
        ("rotary", "= even * cos - odd * sin", "= even * cos + odd * sin", "11.3"),
        ("rotary", "angle = places[..., None] * speed", "angle = np.sqrt(places[..., None]) * speed", "11.3"),
        ("rotary", "turned[..., 1::2] = even * sin + odd * cos", "turned[..., 1::2] = odd", "11.3"),
        ("windows", "query - width < key", "query - width <= key", "11.3"),
        ("windows", "& (key <= query)", "& (key <= query + 1)", "11.3"),
        ("softcap", "limit * np.tanh(scores / limit)", "np.clip(scores, -limit, limit)", "11.3"),
        ("softcap", "limit * np.tanh(scores / limit)", "np.tanh(scores / limit)", "11.3"),
        # 12: a real model
        ("minilm", "X = self._norm(X + joined,", "X = self._norm(joined,", "12.1"),
        ("minilm", "positions[:n] + kind", "0 * positions[:n] + kind", "12.2"),
        ("minilm", "self.tensors[f\"{name}.weight\"].T ", "self.tensors[f\"{name}.weight\"][..., ::-1].T ", "12.1"),
        ("minilm", "cosines = cosine_similarity(own,", "cosines = -cosine_similarity(own,", "12.3"),
        ("minilm", "return X, heads.weights", "return X, heads.weights[::-1]", "12.2"),
        ("minilm", ".hidden[-1].mean(axis=0)", ".hidden[-1][0]", "12.3"),
        # pictures
        ("drawable", "~(np.abs(numbers) < limit)", "(np.abs(numbers) >= limit)", ""),
        ("drawable", " | (positive and numbers <= 0)", "", ""),
        ("drawable", "len(value) != count", "len(value) < count", ""),
        ("drawable", "text.replace(\"$\", r\"\\$\")", "text", ""),
        ("drawable", "if width * height > ROOM or", "if", ""),
    ]
]  # fmt: skip

# Mutants that no test notices, each with the reason why that is right.
SURVIVORS: dict[str, str] = {}

# Which tests know a module; its own examples come last.
KNOWN_BY = {
    "tokens": ["test_mathematics.py"],
    "positions": ["test_mathematics.py", "test_properties.py"],
    "similarity": ["test_mathematics.py", "test_properties.py"],
    "softmax": ["test_mathematics.py", "test_properties.py"],
    "attention": ["test_mathematics.py", "test_properties.py", "test_reference.py", "test_threads.py"],
    "heads": ["test_mathematics.py", "test_properties.py", "test_reference.py"],
    "masks": ["test_mathematics.py", "test_properties.py"],
    "gradients": ["test_gradients.py"],
    "adamw": ["test_gradients.py"],
    "senses": ["test_models.py"],
    "layers": ["test_gradients.py"],
    "block": ["test_models.py"],
    "blockwise": ["test_cost.py"],
    "cache": ["test_cost.py"],
    "rotary": ["test_cost.py"],
    "windows": ["test_cost.py"],
    "softcap": ["test_cost.py"],
    "minilm": ["test_minilm.py"],
    "pictures": ["test_pictures.py"],
    "drawable": ["test_bad_input.py", "test_pictures.py"],
}


def paths_of(module):
    """Give the paths to hand to pytest for a broken module."""
    return [*(f"tests/{name}" for name in KNOWN_BY[module]), f"attnlib/{module}.py"]


def notebook_of(claim):
    """Give the path of the notebook that makes a claim."""
    (path,) = (ROOT / "notebooks").glob(f"{claim[:2]}-*.ipynb")
    return f"notebooks/{path.name}"


def claims():
    """Number the sentences that each chapter's recap says aloud: {"01.1": "A token's id picks a row ...", ...}."""
    found = {}
    for path in sorted((ROOT / "notebooks").glob("*.ipynb")):
        last = "".join(json.loads(path.read_text(encoding="utf-8"))["cells"][-1]["source"])
        _, _, said = last.partition("Say it to your study group:\n")
        for number, sentence in re.findall(r"^(\d)\. ((?:.|\n(?! *\n))+?)$(?=\n\d\.|\n\n|\Z)", said, re.MULTILINE):
            found[f"{path.name[:2]}.{number}"] = " ".join(sentence.split())
    return found


class Copy:
    """A copy of the course in a folder of its own, which can be broken and mended."""

    def __init__(self, folder):
        self.folder = Path(folder)
        unwanted = shutil.ignore_patterns("__pycache__", "*.pyc")
        for name in ("attnlib", "benchmarks", "images", "notebooks", "tests", "tools"):
            shutil.copytree(ROOT / name, self.folder / name, ignore=unwanted)
        for name in ("pyproject.toml", "README.md", "CONTRIBUTING.md", "course.py"):
            shutil.copy(ROOT / name, self.folder)

    def first_red(self, *paths):
        """Run pytest on paths and name the first test that is red; None if all are green."""
        command = [sys.executable, "-m", "pytest", "-q", "-x", "--tb=no", "-rfE", "-p", "no:cacheprovider", *paths]
        kept = {name: value for name, value in os.environ.items() if not name.startswith(("COV_", "PYTEST"))}
        here = {"PYTHONPATH": str(self.folder), "PYTHONDONTWRITEBYTECODE": "1", "OPENBLAS_NUM_THREADS": "1"}
        try:
            done = subprocess.run(
                command, cwd=self.folder, env={**kept, **here}, capture_output=True, text=True, timeout=LIMIT
            )
        except subprocess.TimeoutExpired:
            return f"{paths[0]} (no end)"
        if done.returncode == 0:
            return None
        found = re.search(r"^(?:FAILED|ERROR) (.+?)(?: - .*)?$", done.stdout, re.MULTILINE)
        if done.returncode != 1 and not found:
            raise RuntimeError(f"pytest could not run {paths}: {done.stdout[-500:]}{done.stderr[-500:]}")
        return found[1] if found else "a test"

    def judge(self, mutant):
        """Break one place, tell which test and which cell of the claim's notebook are red, and mend it."""
        path = self.folder / "attnlib" / f"{mutant.module}.py"
        whole = path.read_text(encoding="utf-8")
        path.write_text(whole.replace(mutant.old, mutant.new), encoding="utf-8")
        try:
            test = self.first_red(*paths_of(mutant.module))
            cell = self.first_red(notebook_of(mutant.claim)) if mutant.claim else None
        finally:
            path.write_text(whole, encoding="utf-8")
        return {"change": mutant.shown, "claim": mutant.claim, "test": test, "notebook": cell}


def main(arguments):
    """Judge the mutants, print the survivors and store the results; `--new` judges only those not yet stored."""
    known = json.loads(RESULTS.read_text(encoding="utf-8")) if "--new" in arguments else {}
    results = {
        mutant.key: known[mutant.key]
        for mutant in MUTANTS
        if known.get(mutant.key, {}).get("claim") == mutant.claim and known[mutant.key]["test"]
    }
    new = [mutant for mutant in MUTANTS if mutant.key not in results]
    local = threading.local()

    with tempfile.TemporaryDirectory() as top:

        def copy():
            if not hasattr(local, "copy"):
                local.copy = Copy(tempfile.mkdtemp(dir=top))
            return local.copy

        def work(mutant):
            results[mutant.key] = found = copy().judge(mutant)
            print(f"{mutant.key:22} {found['test']} | {found['notebook']} | {found['change'][:90]}", flush=True)

        with ThreadPoolExecutor(WORKERS) as pool:
            files = sorted({path for mutant in new for path in paths_of(mutant.module)})
            books = sorted({notebook_of(mutant.claim) for mutant in new if mutant.claim})
            red = list(pool.map(lambda path: copy().first_red(path), [*books, *files]))
            if any(red):
                mend = ", ".join(filter(None, red))
                print(f"The course is red before anything is broken: mend {mend}", file=sys.stderr)
                return 1
            list(pool.map(work, new))
    stored = {mutant.key: results[mutant.key] for mutant in MUTANTS}
    RESULTS.write_text(json.dumps(stored, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    survivors = [mutant for mutant in MUTANTS if not stored[mutant.key]["test"]]
    print(f"{len(MUTANTS)} mutants, {len(MUTANTS) - len(survivors)} killed by a test", end=", ")
    print(f"{sum(bool(found['notebook']) for found in stored.values())} also by the notebook of their claim")
    for mutant in survivors:
        print(f"survived: {mutant.module}: {mutant.shown}: {SURVIVORS.get(mutant.key, 'NO REASON GIVEN')}")
    silent = sorted(set(claims()) - {found["claim"] for found in stored.values() if found["notebook"]})
    for claim in silent:
        print(f"no notebook turned red for claim {claim}: {claims()[claim]}")
    return int(bool(silent or {mutant.key for mutant in survivors} - set(SURVIVORS)))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
