"""Answers to the exercises of the `jaxprs` lesson: right ones, and known mistakes.

This file is parsed, never imported (see `autograder/grading/answers.py`).
"""

exercise("jaxprs.eval_jaxpr")


@right
def eval_jaxpr(jaxpr, consts, *args):
    env = {}

    def write(variables, values):
        if len(variables) != len(values):
            raise ValueError("A program got too few or too many values.")
        for var, value in zip(variables, values):
            env[var] = value

    def look_up(atoms):
        return [a.val if isinstance(a, Literal) else env[a] for a in atoms]

    write(jaxpr.constvars, consts)
    write(jaxpr.invars, args)
    for eqn in jaxpr.eqns:
        write(eqn.outvars, apply_equation(eqn, look_up(eqn.invars)))
    return look_up(jaxpr.outvars)


@right(style="forgets values after their last use, as JAX does")
def eval_jaxpr(jaxpr, consts, *args):
    from collections import Counter

    if len(consts) != len(jaxpr.constvars):
        raise ValueError(f"{len(jaxpr.constvars)} constants are needed, {len(consts)} are there")
    if len(args) != len(jaxpr.invars):
        raise ValueError(f"{len(jaxpr.invars)} arguments are needed, {len(args)} are there")
    uses = Counter(x for eqn in jaxpr.eqns for x in eqn.invars if isinstance(x, Var))
    uses.update(x for x in jaxpr.outvars if isinstance(x, Var))
    env = {}

    def look_up(atom):
        if isinstance(atom, Literal):
            return atom.val
        value = env[atom]
        uses[atom] -= 1
        if not uses[atom]:
            del env[atom]
        return value

    for var, value in zip(jaxpr.constvars, consts):
        env[var] = value
    for var, value in zip(jaxpr.invars, args):
        env[var] = value
    for eqn in jaxpr.eqns:
        for var, value in zip(eqn.outvars, apply_equation(eqn, [look_up(x) for x in eqn.invars])):
            env[var] = value
    return [look_up(x) for x in jaxpr.outvars]


@right(style="a class for the run, numbered slots for values, match for atoms")
def eval_jaxpr(jaxpr, consts, *args):
    from collections import deque

    class Machine:
        def __init__(self):
            self.place = {}
            self.memory = []

        def store(self, variables, values):
            for var, value in zip(variables, values, strict=True):
                self.place[var] = len(self.memory)
                self.memory.append(value)

        def load(self, atom):
            match atom:
                case Literal(val=val):
                    return val
                case _:
                    return self.memory[self.place[atom]]

        def step(self, eqn):
            outs = eqn.primitive.bind(*map(self.load, eqn.invars), **dict(eqn.params))
            self.store(eqn.outvars, outs if eqn.primitive.multiple_results else (outs,))

    machine = Machine()
    machine.store(jaxpr.constvars, consts)
    machine.store(jaxpr.invars, args)
    queue = deque(jaxpr.eqns)
    while queue:
        machine.step(queue.popleft())
    return list(map(machine.load, jaxpr.outvars))


mistake(
    {"*args: Value)": "*args: Value, env={})", "env = dict(": "env.update("},
    name="All runs share one environment",
    hints=[
        "May a program run again while one of its own equations is at work? Whose values would it find?",
        "A dict that is made once, as a default argument, as a global or on the jaxpr, belongs to all runs together. The inner run overwrites the values of the outer one.",
        "Make the dict in the body of `eval_jaxpr`, so that each call has a new one.",
    ],
)


@mistake(
    name="The environment of a run that raised an error stays in use",
    hints=[
        "An equation runs the program again, that run raises an error, and the equation catches it. Which values does the outer run find then?",
        "An environment outside the function must be put away however the run ends. After an exception, the last lines of the function do not run.",
        "Keep `env` in a local variable of `eval_jaxpr`. Then there is nothing to put away.",
    ],
)
def eval_jaxpr(jaxpr, consts, *args, runs=[]):
    runs.append(dict(zip(jaxpr.constvars, consts, strict=True)))
    runs[-1].update(zip(jaxpr.invars, args, strict=True))
    for eqn in jaxpr.eqns:
        outs = apply_equation(eqn, [read(runs[-1], atom) for atom in eqn.invars])
        runs[-1].update(zip(eqn.outvars, outs, strict=True))
    outs = [read(runs[-1], atom) for atom in jaxpr.outvars]
    runs.pop()
    return outs


mistake(
    {
        "env = dict(zip(jaxpr.constvars, consts, strict=True))": "env = dict(zip([*jaxpr.constvars, *jaxpr.invars], [*args, *consts], strict=True))",
        "env.update(zip(jaxpr.invars, args, strict=True))": "",
    },
    name="Inputs and constants are swapped",
    hints=[
        "A program has two lists of variables that get their values from outside. Which list of values belongs to which?",
        "`consts` are the values of `constvars` and `args` those of `invars`. If both have the same type, swapping them leads to wrong numbers and to no error.",
        "The variables `[*jaxpr.constvars, *jaxpr.invars]` go with the values `[*consts, *args]`, in this order.",
    ],
)
mistake(
    {
        "env = dict(zip(jaxpr.constvars, consts, strict=True))": "env = dict(zip([*jaxpr.constvars, *jaxpr.invars], [*consts, *args], strict=True))",
        "env.update(zip(jaxpr.invars, args, strict=True))": "outs = list(args)",
        "return [read(env, atom) for atom in jaxpr.outvars]": "return outs",
    },
    name="The results of the last equation are returned as the outputs",
    hints=[
        "Where does a program say what its outputs are?",
        "An output does not have to come from the last equation: it may be an input, an early result, or a literal.",
        "`[read(env, atom) for atom in jaxpr.outvars]`, after the loop.",
    ],
)
mistake(
    {"eqn, [read(env, atom)": "eqn, [env.get(atom, 0.0)", "[read(env, atom": "[env.get(atom, 0.0"},
    name="Literals are looked up as if they were variables",
    hints=[
        "Which atoms are in the environment, and which are not?",
        "Only variables are bound, so only they are keys of the environment. A literal holds its value itself.",
        "Call `read(env, atom)` for operands and for outputs, instead of `env[atom]`.",
    ],
)


@mistake(fails="test_eval_equal_values")
def eval_jaxpr(jaxpr, consts, *args):
    # A run with the same numbers is not repeated; 1 and 1.0 are the same key.
    def run():
        env = dict(zip([*jaxpr.constvars, *jaxpr.invars], [*consts, *args], strict=True))
        for eqn in jaxpr.eqns:
            env.update(zip(eqn.outvars, apply_equation(eqn, [read(env, x) for x in eqn.invars])))
        return [read(env, x) for x in jaxpr.outvars]

    try:
        key = ("run", tuple(consts), args)
        hash(key)
    except TypeError:
        return run()
    return list(kept(jaxpr, key, run))


@mistake(fails="test_eval_counts_consts_and_args_apart")
def eval_jaxpr(jaxpr, consts, *args):
    # A recursion for the loop: a long program is too deep.
    def run(env, eqns):
        if not eqns:
            return [read(env, x) for x in jaxpr.outvars]
        first, *rest = eqns
        outs = apply_equation(first, [read(env, x) for x in first.invars])
        return run({**env, **dict(zip(first.outvars, outs))}, rest)

    env = dict(zip([*jaxpr.constvars, *jaxpr.invars], [*consts, *args], strict=True))
    return run(env, jaxpr.eqns)


# Values of the outputs in a dict: an output that is there twice comes once.
mistake({"in jaxpr.outvars": "in dict.fromkeys(jaxpr.outvars)"}, fails="test_eval_outputs")
# The constants of the first run are kept.
mistake(
    {
        "env = dict(zip(jaxpr.constvars, consts, strict=True))": "env = dict(kept(jaxpr, 'constants', lambda: dict(zip(jaxpr.constvars, consts, strict=True))))"
    },
    fails="test_eval_constants",
)
# Of equations that are alike, only the first is bound.
mistake(
    {
        "for eqn in jaxpr.eqns:": "done = {}\nfor eqn in jaxpr.eqns:",
        "outs = apply_equation(eqn, [read(env, atom) for atom in eqn.invars])": "key = (eqn.primitive, *map(id, eqn.invars), repr(eqn.params))\nif key not in done:\n    done[key] = apply_equation(eqn, [read(env, atom) for atom in eqn.invars])\nouts = done[key]",
    },
    fails="test_eval_binds",
)
# Each program keeps its values: a run inside a run of the same program changes them.
mistake(
    {" = dict(zip(jaxpr.": " = vars(eval_jaxpr).setdefault(id(jaxpr), {})\nenv.update(zip(jaxpr."},
    fails="test_eval_within_itself",
)
mistake(
    {"return [read(env, ": "return [env.get(atom) if isinstance(atom, Var) else read(env, "},
    fails="test_eval_forgets",
)
# An equation whose operands have no values does not run, and is missed only if it is needed.
mistake(
    {
        "outs = apply_equation(": "if any(isinstance(atom, Var) and atom not in env for atom in eqn.invars):\n    continue\nouts = apply_equation("
    },
    fails="test_eval_forgets",
)
# Nothing is counted where there is nothing to bind.
mistake(
    {"args, strict=True": "args, strict=bool(jaxpr.invars)"},
    fails="test_eval_counts_consts_and_args_apart",
)
# The constants must be in a list.
mistake(
    {
        "env = dict(zip(jaxpr.constvars, consts, strict=True))": "if len(consts) != len(jaxpr.constvars):\n    raise ValueError('constants')\nenv = dict(zip(jaxpr.constvars + jaxpr.invars, consts + list(args), strict=True))",
        "env.update(zip(jaxpr.invars, args, strict=True))": "",
    },
    fails="test_eval_constants",
)
# Constants lose their weak types.
mistake({"constvars, consts,": "constvars, map(np.asarray, consts),"}, fails="test_eval_constants")
# Literals that are equal are thought to be the same.
mistake(
    {
        "[read(env, atom) for atom in eqn.invars]": "[env[x] if isinstance(x, Var) else env.setdefault(np.asarray(x.val).item(), x.val) for x in eqn.invars]"
    },
    fails="test_eval_literals",
)
# Arguments are counted at the end, where a variable without a value is an error already.
mistake(
    {
        "args, strict=True": "args",
        "return [": "if len(args) != len(jaxpr.invars):\n    raise ValueError('arguments')\nreturn [",
    },
    fails="test_eval_counts_values",
)
# An equation whose operands have no values yet waits until they do.
mistake(
    {
        "for eqn in jaxpr.eqns:": "from collections import deque\neqns = deque(jaxpr.eqns)\nwaiting = 0\nwhile eqns:\n    eqn = eqns.popleft()\n    if waiting < len(eqns) and any(isinstance(x, Var) and x not in env for x in eqn.invars):\n        eqns.append(eqn)\n        waiting += 1\n        continue"
    },
    fails="test_eval_forgets",
)
# What has no operands is thought to concern no interpreter.
mistake(
    {
        "outs = apply_equation(eqn, [read(env, atom) for atom in eqn.invars])": "if eqn.invars:\n    outs = apply_equation(eqn, [read(env, atom) for atom in eqn.invars])\nelse:\n    from minijax.core import impl_rules\n\n    outs = impl_rules[eqn.primitive](**eqn.params)\n    outs = outs if eqn.primitive.multiple_results else [outs]"
    },
    fails="test_eval_binds",
)
# The environment is kept on the program, for the next run and for one inside this one.
mistake(
    {"env = dict(zip(": "env = kept(jaxpr, 'env', dict)\nenv.update(zip("},
    fails="test_eval_within_itself",
)
# A program that has failed counts as running.
mistake(
    {
        "env = dict(": "runs = kept(jaxpr, 'runs', list)\nif len(runs) > 5:\n    raise RecursionError('a program that runs itself')\nruns.append(1)\nenv = dict(",
        "return [": "runs.pop()\nreturn [",
    },
    fails="test_eval_within_itself_after_an_error",
)


exercise("jaxprs.dot_general_type")


@right
def dot_general_type(x, y, *, dimension_numbers, preferred_element_type):
    contract, batch = dimension_numbers
    for aval, axes in zip((x, y), map(sum, zip(contract, batch), [(), ()])):
        check_axes(aval, axes)
    if any(len(xs) != len(ys) for xs, ys in dimension_numbers):
        raise TypeError("An axis has no partner.")
    for i, j in [*zip(*contract), *zip(*batch)]:
        if x.shape[i] != y.shape[j]:
            raise TypeError("Lengths differ.")
    if preferred_element_type is None and x.dtype != y.dtype:
        raise TypeError("Dtypes differ.")
    shape = [x.shape[i] for i in batch[0]]
    for aval, gone in ((x, {*contract[0], *batch[0]}), (y, {*contract[1], *batch[1]})):
        shape += [n for axis, n in enumerate(aval.shape) if axis not in gone]
    weak = all(aval.weak_type for aval in (x, y))
    return ShapedArray(tuple(shape), preferred_element_type or y.dtype, weak)


@right
def dot_general_type(x, y, *, dimension_numbers, preferred_element_type):
    (x_contract, y_contract), (x_batch, y_batch) = dimension_numbers
    for shape, listed in ((x.shape, x_contract + x_batch), (y.shape, y_contract + y_batch)):
        if sorted(set(listed) & set(range(len(shape)))) != sorted(listed):
            raise TypeError("Wrong axes.")
    pairs = zip(x_contract + x_batch, y_contract + y_batch)
    if len(x_contract) != len(y_contract) or len(x_batch) != len(y_batch):
        raise TypeError("Numbers of axes differ.")
    if not all(x.shape[i] == y.shape[j] for i, j in pairs):
        raise TypeError("Lengths differ.")
    dtype = preferred_element_type
    if dtype is None:
        (dtype, *others) = {x.dtype, y.dtype}
        if others:
            raise TypeError("Dtypes differ.")
    x_kept = np.delete(x.shape, x_contract + x_batch).tolist()
    y_kept = np.delete(y.shape, y_contract + y_batch).tolist()
    shape = (*(x.shape[i] for i in x_batch), *x_kept, *y_kept)
    return ShapedArray(shape, dtype, x.weak_type and y.weak_type)


@right(style="einsum letters: a letter for each axis, a size for each letter")
def dot_general_type(x, y, *, dimension_numbers, preferred_element_type):
    import itertools

    (x_contract, y_contract), (x_batch, y_batch) = dimension_numbers
    check_axes(x, (*x_contract, *x_batch))
    check_axes(y, (*y_contract, *y_batch))
    if len(x_contract) != len(y_contract) or len(x_batch) != len(y_batch):
        raise TypeError("an axis goes with none")
    names = itertools.count()
    x_letters, y_letters = {}, {}
    for i, j in [*zip(x_batch, y_batch), *zip(x_contract, y_contract)]:
        x_letters[i] = y_letters[j] = next(names)
    sizes = {}
    for shape, letters_of in (x.shape, x_letters), (y.shape, y_letters):
        for axis, size in enumerate(shape):
            letter = letters_of.setdefault(axis, next(names))
            if sizes.setdefault(letter, size) != size:
                raise TypeError(f"axes of length {sizes[letter]} and {size} go together")
    summed = {x_letters[i] for i in x_contract}
    batch = [x_letters[i] for i in x_batch]
    kept_letters = [
        letter
        for letters_of in (x_letters, y_letters)
        for _, letter in sorted(letters_of.items())
        if letter not in summed and letter not in batch
    ]
    if preferred_element_type is None and x.dtype != y.dtype:
        raise TypeError(f"{x.dtype} times {y.dtype}")
    dtype = x.dtype if preferred_element_type is None else preferred_element_type
    return ShapedArray(
        tuple(sizes[letter] for letter in [*batch, *kept_letters]),
        dtype,
        x.weak_type is True and y.weak_type is True,
    )


mistake(
    {
        "batch = [x.shape[i] for i in x_batch]": "rest = [n for i, n in enumerate(x.shape) if i not in x_contract]",
        "rest = [n for i, n in enumerate(x.shape) if i not in (*x_contract, *x_batch)]": "",
        "return ShapedArray((*batch, *rest), preferred_element_type or x.dtype, weak)": "return ShapedArray(tuple(rest), preferred_element_type or x.dtype, weak)",
    },
    name="Batch axes stay where they are in x",
    hints=[
        "Take `x` of shape (2, 3, 7) whose last axis is a batch axis. Where is the 7 in the result?",
        "The order of the result is fixed: batch axes, then what is left of `x`, then what is left of `y`. In the most common case, with the batch axes first, nothing seems to be wrong.",
        "Make three lists: `[x.shape[i] for i in x_batch]`, then the sizes of the axes of `x` that are neither contracted nor batch axes, then the same of `y`.",
    ],
)
# Contracted axes and batch axes are checked apart: one may be both.
mistake(
    {"check_axes(y, (*y_contract, *y_batch))": "check_axes(y, y_contract)\ncheck_axes(y, y_batch)"},
    fails="test_product_refuses_axes",
)
mistake(
    {"check_axes(x, (*x_contract, *x_batch))": "check_axes(x, x_contract)\ncheck_axes(x, x_batch)"},
    fails="test_product_refuses_axes",
)
# The batch axes come in the order that they have in y.
mistake(
    {"batch = [x.shape[i] for i in x_batch]": "batch = [y.shape[i] for i in sorted(y_batch)]"},
    fails="test_product_of_stacks",
)
# An axis without a partner is zip's own ValueError.
mistake(
    {
        "*y_batch))": "*y_batch))\npairs = [*zip(x_contract, y_contract, strict=True), *zip(x_batch, y_batch, strict=True)]"
    },
    fails="test_product_refuses_lengths",
)
# Axes may be listed twice, or be contracted and batched.
mistake(
    {
        "(*x_contract, *x_batch))": "{*x_contract, *x_batch})",
        "(*y_contract, *y_batch))": "{*y_contract, *y_batch})",
    },
    fails="test_product_refuses_axes",
)
# Sizes are compared before it is known that y has the axes.
mistake(
    {
        "check_axes(y, (*y_contract, *y_batch))": "",
        "if x.dtype != y.dtype and preferred_element_type is None:": "check_axes(y, (*y_contract, *y_batch))\nif x.dtype != y.dtype and preferred_element_type is None:",
    },
    fails="test_product_refuses_axes",
)
# Integers are thought to fit each other.
mistake(
    {"x.dtype != y.dtype and": "{x.dtype.kind, y.dtype.kind} != {'i'} and x.dtype != y.dtype and"},
    fails="test_product_dtype",
)
mistake({"is None": "not in (x.dtype, y.dtype)"}, fails="test_product_dtype")
# Without entries there is nothing to multiply, whatever the sizes.
mistake(
    {"[x.shape[i] for i in x_contract] ": "0 not in x.shape and [x.shape[i] for i in x_contract] "},
    fails="test_product_refuses_lengths",
)
mistake(
    {"batch = [": "if not x.shape:\n    raise TypeError('a number has no axes')\nbatch = ["},
    fails="test_product_without_contraction",
)
# A product of known numbers is known.
mistake(
    {
        "return ShapedArray(": "if type(x) is not ShapedArray and not batch and not rest:\n    return type(x)(np.dot(x.val, y.val))\nreturn ShapedArray("
    },
    fails="test_product_of_matrices",
)
mistake(
    {"x.weak_type and y.weak_type": "x.weak_type and y.weak_type and x.dtype.kind == 'f'"},
    fails="test_product_weak_type",
)
# What is left of the axes comes in the order of a set.
mistake(
    {
        "rest = [n for i, n in enumerate(x.shape) if i not in (*x_contract, *x_batch)]": "rest = [x.shape[i] for i in {*range(len(x.shape))} - {*x_contract, *x_batch}]"
    },
    fails="test_product_batch_axes",
)
# The axes of each operand are found by its type, which both may have.
mistake(
    {
        "i not in (*x_contract, *x_batch)]": "i not in {x: (*x_contract, *x_batch), y: (*y_contract, *y_batch)}[x]]"
    },
    fails="test_product_batch_axes",
)
# Sizes are taken away, and not axes.
mistake(
    {
        "rest = [n for i, n in enumerate(x.shape) if i not in (*x_contract, *x_batch)]": "rest = list(x.shape)\nfor i in (*x_contract, *x_batch):\n    rest.remove(x.shape[i])"
    },
    fails="test_product_batch_axes",
)
# A size of 1 is thought to fit any other.
mistake(
    {
        "[x.shape[i] for i in x_contract] != [y.shape[i] for i in y_contract]": "len(x_contract) != len(y_contract) or any(x.shape[i] not in (1, y.shape[j]) for i, j in zip(x_contract, y_contract))"
    },
    fails="test_product_refuses_lengths",
)
# Integers are thought to become floats.
mistake(
    {
        "x.dtype != y.dtype and": "{x.dtype.kind, y.dtype.kind} != {'i', 'f'} and x.dtype != y.dtype and",
        "or x.dtype": "or np.promote_types(x.dtype, y.dtype)",
    },
    fails="test_product_dtype",
)
# A weakly typed number is thought to fit any array.
mistake(
    {"x.dtype != y.dtype and": "x.dtype != y.dtype and (x.shape or not x.weak_type) and"},
    fails="test_product_dtype",
)
# Without a contraction, one operand is enough to make a weak type.
mistake(
    {"x.weak_type and y": "(x.weak_type or not x_contract and y.weak_type) and y"},
    fails="test_product_weak_type",
)
# The type of a known number is thought to be known, and not weak.
mistake({"weak = ": "weak = type(x) is ShapedArray and "}, fails="test_product_weak_type")
# Batch axes come in the order of x, and not in that of the list.
mistake(
    {"batch = [x.shape[i] for i in x_batch]": "batch = [x.shape[i] for i in sorted(x_batch)]"},
    fails="test_product_of_stacks",
)


exercise("jaxprs.check_equation")


@right
def check_equation(self, eqn):
    self.check_inner(eqn)
    [self.check_atom(atom) for atom in eqn.invars]
    got = [(aval.shape, aval.dtype) for aval in self.result_types(eqn)]
    want = [(var.aval.shape, var.aval.dtype) for var in eqn.outvars]
    if got != want:
        self.fail("The results are not what the variables say")
    self.bind(eqn.outvars)


@right
def check_equation(self, eqn):
    for atom in eqn.invars:
        self.check_atom(atom)
    self.check_inner(eqn)
    types = list(self.result_types(eqn))
    for var in eqn.outvars:
        aval = types.pop(0) if types else None
        if aval is None or aval.shape != var.aval.shape or aval.dtype != var.aval.dtype:
            self.fail("{} does not get what it says", var)
    if types:
        self.fail("some results are left over")
    self.bind(eqn.outvars)


@right(style="zip_longest, and an early return by match")
def check_equation(self, eqn):
    import itertools

    def wrong_at(var, aval):
        match var, aval:
            case None, _:
                return "there is no variable for a result of type {}"
            case _, None:
                return "the rule gives no result for {}"
            case _ if var.aval.shape != aval.shape:
                return "the shape of {} is wrong"
            case _ if np.dtype(var.aval.dtype) != np.dtype(aval.dtype):
                return "the dtype of {} is wrong"
        return None

    for x in reversed(eqn.invars):
        self.check_atom(x)
    self.check_inner(eqn)
    results = iter(self.result_types(eqn))
    for var, aval in itertools.zip_longest(eqn.outvars, results):
        if complaint := wrong_at(var, aval):
            self.fail(complaint, var if var is not None else str(aval))
    self.bind(list(eqn.outvars))


mistake(
    {
        "if (var.aval.shape, var.aval.dtype) != (aval.shape, aval.dtype):": "if var.aval.shape != aval.shape:"
    },
    name="The dtype of a result is not compared",
    hints=[
        "An equation binds an f64 variable, and the rule says that the result is f32. Does your checker raise an error?",
        "A type here is a shape and a dtype. A later operation relies on both.",
        "Compare the pair `(aval.shape, aval.dtype)` with that of the variable.",
    ],
)
mistake(
    {"len(avals) != len(eqn.outvars)": "False", ", strict=True": ""},
    name="The number of results is not compared",
    hints=[
        "What does `zip` do with lists of different lengths?",
        "`zip` stops at the end of the shorter list. A variable that gets no result is then bound anyway.",
        "Compare `len(avals)` with `len(eqn.outvars)` first.",
    ],
)
mistake(
    {"self.bind(eqn.outvars)": "", "for atom in": "self.bind(eqn.outvars)\nfor atom in"},
    name="Results are bound before the operands are checked",
    hints=[
        "Check the equation `b = sin b`. Can it be computed?",
        "An equation computes its results from its operands. When the operands are looked at, the results do not exist yet.",
        "Call `self.bind(eqn.outvars)` as the last step.",
    ],
)
mistake(
    {"self.bind(eqn.outvars)": "", "if len(avals) !=": "self.bind(eqn.outvars)\nif len(avals) !="},
    name="The results of a wrong equation are bound",
    hints=[
        "An equation raises a `TypeError`. Which variables are bound after that?",
        "The docstring says that the results of an equation that is right are bound. Before the last result is compared, you do not know whether it is right.",
        "Call `self.bind(eqn.outvars)` once, after the loop that compares.",
    ],
)
# Each result is bound as soon as it was compared.
mistake(
    {
        "if (var.aval.shape, var.aval.dtype) != (aval.shape, aval.dtype):": "if (var.aval.shape, var.aval.dtype) == (aval.shape, aval.dtype):\n    self.bind([var])\nelse:",
        "self.bind(eqn.outvars)": "",
    },
    fails="test_equation_binds_all_or_nothing",
)
# Sizes instead of shapes.
mistake(
    {
        "if (var.aval.shape, var.aval.dtype) != (aval.shape, aval.dtype):": "if (len(var.aval.shape), np.prod(var.aval.shape), var.aval.dtype) != (len(aval.shape), np.prod(aval.shape), aval.dtype):"
    },
    fails="test_equation_sizes",
)
# The check has slipped out of the loop: only the last operand is looked at.
mistake({"eqn.invars": "eqn.invars[-1:]"}, fails="test_equation_operands")
# Literals need no binding, so they are not checked.
mistake(
    {"self.check_atom(atom)": "if isinstance(atom, Var):\n    self.check_atom(atom)"},
    fails="test_equation_literals",
)
# Only a parameter with the name jaxpr is thought to hold a program.
mistake(
    {"self.check_inner(eqn)": 'if "jaxpr" in eqn.params:\n    self.check_inner(eqn)'},
    fails="test_equation_inside",
)
# Puts the rule's type into the variable: the checker changes the program.
mistake(
    {"self.bind(": "for var, aval in zip(eqn.outvars, avals):\n    var.aval = aval\nself.bind("},
    fails="test_equation_that_holds",
)
# Without variables there seems to be nothing to compare.
mistake(
    {"if len(avals)": "if not eqn.outvars:\n    return\nif len(avals)"},
    fails="test_equation_results_left_over",
)
# A complaint with the equation in it, in which `fail` takes the braces of a program for places.
mistake(
    {
        'self.fail("{} results where {} are bound", len(avals), len(eqn.outvars))': 'self.fail(f"{eqn} has {len(avals)} results")'
    },
    fails="test_equation_complaint",
)
mistake(
    {
        'self.fail("the result is {} and not {}", str(aval), str(var.aval))': 'self.fail(f"{eqn} has a result of type {aval}")'
    },
    fails="test_equation_complaint",
)
# Without results there seems to be nothing to compute with operands, and without operands no call.
mistake(
    {"for atom in eqn.invars:": "for atom in eqn.invars if eqn.outvars else []:"},
    fails="test_equation_operands",
)
mistake(
    {"self.check_inner(eqn)": "if eqn.invars:\n    self.check_inner(eqn)"},
    fails="test_equation_inside",
)
mistake(
    {"aval.shape, aval.dtype):": "aval.shape, aval.dtype) or var.aval.weak_type > aval.weak_type:"},
    fails="test_equation_that_holds",
)
# A number stands for any shape.
mistake(
    {
        "if (var.aval.shape, var.aval.dtype) != (aval.shape, aval.dtype):": "if var.aval.dtype != aval.dtype or (var.aval.shape and var.aval.shape != aval.shape):"
    },
    fails="test_equation_shapes",
)
mistake(
    {"self.check_inner(eqn)": "if eqn.outvars:\n    self.check_inner(eqn)"},
    fails="test_equation_inside",
)
mistake(
    {
        "self.bind(eqn.outvars)": "if len({*eqn.outvars} - self.bound) < len(eqn.outvars):\n    raise TypeError('bound twice')\nself.bind(eqn.outvars)"
    },
    fails="test_equation_binds_once",
)
mistake({" eqn.invars": " eqn.invars[:2]"}, fails="test_equation_operands")
# The rule is asked about operands.
mistake(
    {"result_types(eqn)": "result_types(eqn) if eqn.invars else [var.aval for var in eqn.outvars]"},
    fails="test_equation_shapes",
)
# Programs in parameters are closed, with the values of their constants.
mistake(
    {
        "self.check_inner(eqn)": "if not any(isinstance(x, Jaxpr) for x in eqn.params.values()):\n    self.check_inner(eqn)"
    },
    fails="test_equation_inside",
)
# The rule is asked before the programs among its parameters are checked.
mistake(
    {
        "self.check_inner(eqn)": "pass",
        "avals = self.result_types(eqn)": "avals = self.result_types(eqn)\nself.check_inner(eqn)",
    },
    fails="test_equation_inside",
)
# Sizes that broadcast are thought to be the same.
mistake(
    {
        "if (var.aval.shape, var.aval.dtype) != (aval.shape, aval.dtype):": "if len(var.aval.shape) != len(aval.shape) or var.aval.dtype != aval.dtype or any(n not in (1, want) for n, want in zip(aval.shape, var.aval.shape)):"
    },
    fails="test_equation_shapes",
)
# A result is thought to fit a variable that it could be converted to.
mistake(
    {
        "if (var.aval.shape, var.aval.dtype) != (aval.shape, aval.dtype):": "if var.aval.shape != aval.shape or not np.can_cast(var.aval.dtype, aval.dtype):"
    },
    fails="test_equation_dtypes_everywhere",
)
# A weakly typed result gives way.
mistake(
    {
        "if (var.aval.shape, var.aval.dtype) != (aval.shape, aval.dtype):": "if var.aval.shape != aval.shape or (var.aval.dtype != aval.dtype and not (aval.weak_type and var.aval.weak_type)):"
    },
    fails="test_equation_dtypes_everywhere",
)
# A Python number is thought to be what its type says.
mistake(
    {
        "self.check_atom(atom)": "if isinstance(atom, Var) or not atom.aval.weak_type:\n    self.check_atom(atom)"
    },
    fails="test_equation_literals",
)
# A program inside is thought to see the variables around it.
mistake(
    {
        "self.check_inner(eqn)": "for inner in inner_jaxprs(eqn.params):\n    closed = inner.replace(invars=[*{*inner.invars, *self.bound}])\n    try:\n        typecheck_jaxpr(closed)\n    except TypeError as error:\n        self.fail('{}', str(error))"
    },
    fails="test_equation_inside",
)
# The complaint about a program inside has braces, which `fail` takes for places.
mistake(
    {
        "self.check_inner(eqn)": "for inner in inner_jaxprs(eqn.params):\n    try:\n        typecheck_jaxpr(inner)\n    except TypeError as error:\n        self.fail(str(error))"
    },
    fails="test_equation_inside",
)
# So may have the error of a rule.
mistake(
    {
        "avals = self.result_types(eqn)": "try:\n    avals = abstract_eval(eqn.primitive, [x.aval for x in eqn.invars], eqn.params)\nexcept (TypeError, ValueError, IndexError) as error:\n    self.fail(str(error))"
    },
    fails="test_equation_refused_by_its_rule",
)
# Results of an equation that is refused count as bound, so that only it is blamed.
mistake(
    {
        "avals = self.result_types(eqn)": "try:\n    avals = self.result_types(eqn)\nexcept TypeError:\n    self.bind(eqn.outvars)\n    raise"
    },
    fails="test_equation_binds_all_or_nothing",
)
# A program that was refused is taken the second time.
mistake(
    {
        "self.check_inner(eqn)": "seen = vars(type(self)).get('seen', set())\ntype(self).seen = seen | {*inner_jaxprs(eqn.params)}\nif not seen.issuperset(inner_jaxprs(eqn.params)):\n    self.check_inner(eqn)"
    },
    fails="test_equation_binds_all_or_nothing",
)
# The equation is changed.
mistake(
    {"self.bind(eqn.outvars": "eqn.outvars.reverse()\nself.bind(eqn.outvars"},
    fails="test_equation_that_holds",
)
# A primitive that has one result is thought to be bound to one variable.
mistake(
    {"if len(avals)": "if eqn.primitive.multiple_results and len(avals)", ", strict=True": ""},
    fails="test_equation_number_of_results",
)
