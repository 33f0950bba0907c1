"""Small, automatic changes to a function's source: each is a mistake that nobody has thought of yet."""

import ast
import copy
import inspect
import textwrap

import numpy as np

from attnlib.exercises.running import run

SWAPPED = (ast.Sub, ast.Div, ast.MatMult, ast.Pow, ast.FloorDiv, ast.Mod)
OTHER = {
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.Div,
    ast.Div: ast.Mult,
    ast.MatMult: ast.Mult,
    ast.Pow: ast.Mult,
    ast.FloorDiv: ast.Mult,
    ast.BitAnd: ast.BitOr,
    ast.BitOr: ast.BitAnd,
}
FLIPPED = {
    ast.Lt: ast.GtE,
    ast.LtE: ast.Gt,
    ast.Gt: ast.LtE,
    ast.GtE: ast.Lt,
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
}
NAMES = {
    "max": ["min", "sum"],
    "min": ["max"],
    "sum": ["max", "mean"],
    "mean": ["sum"],
    "exp": ["square", "expm1"],
    "sqrt": ["square"],
    "sin": ["cos"],
    "cos": ["sin"],
    "diag": ["diagflat"],
    "outer": ["add"],
    "concatenate": ["stack"],
    "tril": ["triu"],
    "triu": ["tril"],
    "argmax": ["argmin"],
    "argmin": ["argmax"],
    "zeros": ["ones"],
    "eye": ["ones_like"],
    "swapaxes": ["reshape"],
}


def options(node, parameters):
    """Give every changed form of one node, with a word for the change."""
    if isinstance(node, ast.Name) and node.id in parameters and isinstance(node.ctx, ast.Load):
        for other in parameters:
            if other != node.id:
                yield f"{node.id} -> {other}", ast.Name(other, ast.Load())
    elif isinstance(node, ast.Subscript):
        yield "index dropped", node.value
    elif isinstance(node, ast.BinOp):
        if isinstance(node.op, SWAPPED):
            yield "operands swapped", ast.BinOp(node.right, node.op, node.left)
        if type(node.op) in OTHER:
            yield "operator changed", ast.BinOp(node.left, OTHER[type(node.op)](), node.right)
        yield "right operand dropped", node.left
        yield "left operand dropped", node.right
    elif isinstance(node, ast.UnaryOp):
        yield "sign dropped", node.operand
    elif isinstance(node, ast.Constant) and isinstance(node.value, bool):
        yield "flag turned", ast.Constant(not node.value)
    elif isinstance(node, ast.Constant) and isinstance(node.value, (int, float)):
        for step in (1, -1):
            yield f"constant {step:+}", ast.Constant(node.value + step)
    elif isinstance(node, ast.Compare) and type(node.ops[0]) in FLIPPED:
        yield "comparison turned", ast.Compare(node.left, [FLIPPED[type(node.ops[0])]()], node.comparators)
    elif isinstance(node, ast.Attribute):
        if node.attr == "T":
            yield "transpose dropped", node.value
        for name in NAMES.get(node.attr, []):
            yield f"{node.attr} -> {name}", ast.Attribute(node.value, name, node.ctx)
    elif isinstance(node, ast.Call):
        yield "call dropped", node.args[0] if node.args else getattr(node.func, "value", node.func)
        if len(node.args) >= 2:
            yield (
                "arguments swapped",
                ast.Call(node.func, [node.args[1], node.args[0], *node.args[2:]], node.keywords),
            )
        for place, keyword in enumerate(node.keywords):
            kept = node.keywords[:place] + node.keywords[place + 1 :]
            yield f"{keyword.arg} dropped", ast.Call(node.func, node.args, kept)
    elif isinstance(node, ast.Return) and node.value is not None:
        yield "result negated", ast.Return(ast.UnaryOp(ast.USub(), node.value))
    elif isinstance(node, (ast.Assign, ast.AugAssign)):
        yield "line dropped", ast.Pass()


def mutants(function):
    """Give (description, changed function) for every single change of a function's source."""
    source = textwrap.dedent(inspect.getsource(function))
    tree = ast.parse(source)
    parameters = [argument.arg for argument in tree.body[0].args.args]
    for place, node in enumerate(ast.walk(tree)):
        if not hasattr(node, "lineno"):
            continue
        for word, changed in options(node, parameters):
            copied = copy.deepcopy(tree)
            target = list(ast.walk(copied))[place]
            replaced = Replace(target, copy.deepcopy(changed)).visit(copied)
            ast.fix_missing_locations(replaced)
            names = dict(function.__globals__)
            try:
                exec(compile(replaced, f"<mutant of {function.__name__}>", "exec"), names)
            except (SyntaxError, ValueError):
                continue
            yield f"line {node.lineno}: {word}: {ast.unparse(node)}", names[function.__name__]


class Replace(ast.NodeTransformer):
    """Put one node in the place of another."""

    def __init__(self, old, new):
        self.old, self.new = old, new

    def visit(self, node):
        """Replace the node itself, or look further down."""
        return self.new if node is self.old else self.generic_visit(node)


def probes(exercise):
    """Give inputs far beyond those of the check: other seeds, other sizes of numbers."""
    for seed in range(100, 106):
        for case in exercise.cases(np.random.default_rng(seed)):
            yield case
            for factor in (0.1, 30.0):
                yield tuple(x * factor if isinstance(x, np.ndarray) and x.dtype == float else x for x in case)


def changes_behaviour(exercise, mutant):
    """Tell whether a mutant gives another answer for any input."""
    for case in probes(exercise):
        expected, got = run(exercise.reference, case), run(mutant, case, limit=2.0)
        if expected.error is None and not exercise.agrees(got, expected):
            return True
    return False


def survey(exercise):
    """Count the mutants of an exercise's answer that change behaviour, and list those that the check accepts."""
    changed, survivors = 0, []
    for description, mutant in mutants(exercise.reference):
        if not changes_behaviour(exercise, mutant):
            continue
        changed += 1
        if exercise.judge(mutant).kind == "solved":
            survivors.append(description)
    return changed, survivors
