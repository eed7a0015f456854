"""Answers to the exercises of the lesson jaxprs: right ones, and known mistakes.

This file is parsed, never imported (see `autograder/grading/answers.py`).
"""


@right("jaxprs.eval_jaxpr")
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


@right("jaxprs.eval_jaxpr")
def eval_jaxpr(jaxpr, consts, *args):
    env = dict(zip(jaxpr.constvars, consts, strict=True))
    env |= zip(jaxpr.invars, args, strict=True)
    for eqn in jaxpr.eqns:
        operands = [read(env, atom) for atom in eqn.invars]
        outs = eqn.primitive.bind(*operands, **eqn.params)
        if not eqn.primitive.multiple_results:
            outs = [outs]
        env |= zip(eqn.outvars, outs, strict=True)
    return [read(env, atom) for atom in jaxpr.outvars]


@mistake(
    "jaxprs.eval_jaxpr",
    name="All runs share one environment",
    hints=[
        "May a program run again while one of its own equations is at work? Whose values would it find?",
        "A dict that is made once, as a default argument, as a global or on the jaxpr, belongs to all runs together. The inner run overwrites the values of the outer one.",
        "Make the dict in the body of `eval_jaxpr`, so that each call has a new one.",
    ],
)
def eval_jaxpr(jaxpr, consts, *args, env={}):
    env.update(zip([*jaxpr.constvars, *jaxpr.invars], [*consts, *args], strict=True))
    for eqn in jaxpr.eqns:
        outs = apply_equation(eqn, [read(env, atom) for atom in eqn.invars])
        env.update(zip(eqn.outvars, outs, strict=True))
    return [read(env, atom) for atom in jaxpr.outvars]


@mistake(
    "jaxprs.eval_jaxpr",
    name="Inputs and constants change places",
    hints=[
        "A program has two lists of variables that get their values from outside. Which list of values belongs to which?",
        "`consts` are the values of `constvars` and `args` those of `invars`. Where both are of one type, an exchange gives wrong numbers and no error.",
        "The variables `[*jaxpr.constvars, *jaxpr.invars]` go with the values `[*consts, *args]`, in this order.",
    ],
)
def eval_jaxpr(jaxpr, consts, *args):
    env = dict(zip([*jaxpr.constvars, *jaxpr.invars], [*args, *consts], strict=True))
    for eqn in jaxpr.eqns:
        outs = apply_equation(eqn, [read(env, atom) for atom in eqn.invars])
        env.update(zip(eqn.outvars, outs, strict=True))
    return [read(env, atom) for atom in jaxpr.outvars]


@mistake(
    "jaxprs.eval_jaxpr",
    name="The results of the last equation are taken for the outputs",
    hints=[
        "Where does a program say what its outputs are?",
        "An output need not come from the last equation: it may be an input, an early result, or a literal.",
        "`[read(env, atom) for atom in jaxpr.outvars]`, after the loop.",
    ],
)
def eval_jaxpr(jaxpr, consts, *args):
    env = dict(zip([*jaxpr.constvars, *jaxpr.invars], [*consts, *args], strict=True))
    outs = list(args)
    for eqn in jaxpr.eqns:
        outs = apply_equation(eqn, [read(env, atom) for atom in eqn.invars])
        env.update(zip(eqn.outvars, outs, strict=True))
    return outs


@mistake(
    "jaxprs.eval_jaxpr",
    name="Literals are looked up as if they were variables",
    hints=[
        "Which atoms are in the environment, and which are not?",
        "Only variables are bound, so only they are keys of the environment. A literal holds its value itself.",
        "Call `read(env, atom)` for operands and for outputs, in place of `env[atom]`.",
    ],
)
def eval_jaxpr(jaxpr, consts, *args):
    env = dict(zip([*jaxpr.constvars, *jaxpr.invars], [*consts, *args], strict=True))
    for eqn in jaxpr.eqns:
        outs = apply_equation(eqn, [env.get(atom, 0.0) for atom in eqn.invars])
        env.update(zip(eqn.outvars, outs, strict=True))
    return [env.get(atom, 0.0) for atom in jaxpr.outvars]


@right("jaxprs.binary_type")
def binary_type(x, y):
    if {x.dtype} != {y.dtype}:
        raise TypeError("Convert one of the operands first.")
    weak = all(aval.weak_type for aval in (x, y))
    return ShapedArray(broadcast_shapes("operation", y.shape, x.shape), y.dtype, weak)


@right("jaxprs.binary_type")
def binary_type(x, y):
    if x.dtype == y.dtype:
        shape = broadcast_shapes("addition", x.shape, y.shape)
        return ShapedArray(shape, x.dtype, bool(x.weak_type * y.weak_type))
    raise TypeError("The dtypes differ.")


@mistake(
    "jaxprs.binary_type",
    name="One weakly typed operand makes the result weakly typed",
    hints=[
        "What is the type of a float32 array plus the Python number 2.0, and does it still give way to others?",
        "A weak type gives way. As soon as an array with a type of its own takes part, the result has that type for good.",
        "`x.weak_type and y.weak_type`, not `or`.",
    ],
)
def binary_type(x, y):
    if x.dtype != y.dtype:
        raise TypeError(f"operands must have one dtype, not {x} and {y}")
    shape = broadcast_shapes("operation", x.shape, y.shape)
    return ShapedArray(shape, x.dtype, x.weak_type or y.weak_type)


@mistake(
    "jaxprs.binary_type",
    name="Shapes stretch as in NumPy, with missing axes put in front",
    hints=[
        "Try the shapes (3,) and (2, 3). What does the docstring say about operands with different numbers of axes?",
        "NumPy puts missing axes in front. Primitives do not: operators and `minijax.numpy` have done that before an operation becomes an equation.",
        'Use `broadcast_shapes("operation", x.shape, y.shape)` of this package, not `np.broadcast_shapes`.',
    ],
)
def binary_type(x, y):
    if x.dtype != y.dtype:
        raise TypeError(f"operands must have one dtype, not {x} and {y}")
    try:
        shape = np.broadcast_shapes(x.shape, y.shape)
    except ValueError as error:
        raise TypeError(str(error)) from None
    return ShapedArray(shape, x.dtype, x.weak_type and y.weak_type)


@right("jaxprs.comparison_type")
def comparison_type(x, y):
    return dataclasses.replace(binary_type(x, y), dtype=np.dtype("bool"))


@right("jaxprs.comparison_type")
def comparison_type(x, y):
    if x.dtype != y.dtype:
        raise TypeError("The dtypes differ.")
    shape = broadcast_shapes("comparison", x.shape, y.shape)
    return ShapedArray(shape, np.dtype(bool), x.weak_type and y.weak_type)


@mistake(
    "jaxprs.comparison_type",
    name="A comparison has the dtype of its operands",
    hints=[
        "What does `np.array([1.5]) < np.array([2.5])` give?",
        "A comparison answers a question with yes or no, whatever numbers it is about.",
        "The dtype is `np.dtype(bool)`; shape and weak type come from `binary_type(x, y)`.",
    ],
)
def comparison_type(x, y):
    return binary_type(x, y)


@right("jaxprs.reduce_sum_type")
def reduce_sum_type(x, *, axes):
    shape = dict(enumerate(x.shape))
    for axis in axes:
        if axis not in shape:
            raise TypeError(f"There is no axis {axis}.")
        del shape[axis]
    return ShapedArray(tuple(shape.values()), x.dtype, x.weak_type)


@right("jaxprs.reduce_sum_type")
def reduce_sum_type(x, *, axes):
    left = [axis for axis in range(len(x.shape)) if axis not in axes]
    if len(left) + len(axes) != len(x.shape):
        raise TypeError("An axis is not there.")
    return ShapedArray(tuple(x.shape[axis] for axis in left), x.dtype, x.weak_type)


@mistake(
    "jaxprs.reduce_sum_type",
    name="Axes that are added up stay with length 1",
    hints=[
        "What is the shape of `np.sum(np.ones((2, 3)), axis=0)`?",
        "There is no `keepdims` here: an axis that is added up is no axis of the result.",
        "Leave it out of the shape: `tuple(n for axis, n in enumerate(x.shape) if axis not in axes)`.",
    ],
)
def reduce_sum_type(x, *, axes):
    if not set(axes) <= set(range(len(x.shape))):
        raise TypeError(f"{x} does not have the axes {axes}")
    shape = tuple(1 if axis in axes else n for axis, n in enumerate(x.shape))
    return ShapedArray(shape, x.dtype, x.weak_type)


@right("jaxprs.dot_general_type")
def dot_general_type(x, y, *, dimension_numbers, preferred_element_type):
    contract, batch = dimension_numbers
    for i, j in [*zip(*contract), *zip(*batch)]:
        if x.shape[i] != y.shape[j]:
            raise TypeError("Lengths differ.")
    if preferred_element_type is None and x.dtype != y.dtype:
        raise TypeError("Dtypes differ.")
    shape = [x.shape[i] for i in batch[0]]
    for aval, gone in ((x, {*contract[0], *batch[0]}), (y, {*contract[1], *batch[1]})):
        shape += [n for axis, n in enumerate(aval.shape) if axis not in gone]
    weak = all(aval.weak_type for aval in (x, y))
    return ShapedArray(tuple(shape), np.dtype(preferred_element_type or y.dtype), weak)


@right("jaxprs.dot_general_type")
def dot_general_type(x, y, *, dimension_numbers, preferred_element_type):
    (x_contract, y_contract), (x_batch, y_batch) = dimension_numbers
    pairs = zip(x_contract + x_batch, y_contract + y_batch)
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
    return ShapedArray(shape, np.dtype(dtype), x.weak_type and y.weak_type)


@mistake(
    "jaxprs.dot_general_type",
    name="Batch axes stay where they are in x",
    hints=[
        "Take `x` of shape (2, 3, 7) whose last axis is a batch axis. Where is the 7 in the result?",
        "The order of the result is fixed: batch axes, then what is left of `x`, then what is left of `y`. In the most usual case, the batch axes in front, nothing seems to be wrong.",
        "Make three lists: `[x.shape[i] for i in x_batch]`, then the lengths of `x` whose axis is neither contracted nor a batch axis, then those of `y`.",
    ],
)
def dot_general_type(x, y, *, dimension_numbers, preferred_element_type):
    (x_contract, y_contract), (x_batch, y_batch) = dimension_numbers
    if [x.shape[i] for i in x_contract] != [y.shape[i] for i in y_contract]:
        raise TypeError(f"the contracted axes of {x} and {y} differ in size")
    if [x.shape[i] for i in x_batch] != [y.shape[i] for i in y_batch]:
        raise TypeError(f"the batch axes of {x} and {y} differ in size")
    if x.dtype != y.dtype and preferred_element_type is None:
        raise TypeError(f"operands must have one dtype, not {x} and {y}")
    rest = [n for i, n in enumerate(x.shape) if i not in x_contract]
    rest += [n for i, n in enumerate(y.shape) if i not in (*y_contract, *y_batch)]
    weak = x.weak_type and y.weak_type
    return ShapedArray(tuple(rest), np.dtype(preferred_element_type or x.dtype), weak)


@right("jaxprs.check_atom")
def check_atom(self, atom):
    match atom:
        case Literal(val, aval):
            if aval.shape != () or np.shape(val) != () or np.asarray(val).dtype != aval.dtype:
                self.fail("This literal is wrong: {}", atom)
        case _:
            if not {atom} & self.bound:
                self.fail("Nobody knows {}", atom)


@right("jaxprs.check_atom")
def check_atom(self, atom):
    if type(atom) is Var:
        right = atom in self.bound
    else:
        value = np.array(atom.val)
        right = value.ndim == 0 == len(atom.aval.shape) and value.dtype == atom.aval.dtype
    if not right:
        self.fail("this may not be used here: {}", atom)


@mistake(
    "jaxprs.check_atom",
    name="A variable without a value is accepted",
    hints=[
        "Where would `eval_jaxpr` find the value of the variable?",
        "That something is a `Var` does not say that it has a value here: it must have been an input, a constant or the result of an earlier equation.",
        "`if atom not in self.bound:` complain, with `self.fail`.",
    ],
)
def check_atom(self, atom):
    if isinstance(atom, Var):
        return
    value = np.asarray(atom.val)
    if value.shape or atom.aval.shape or value.dtype != atom.aval.dtype:
        self.fail("the literal {} is not right", atom)


@mistake(
    "jaxprs.check_atom",
    name="Literals are not checked",
    hints=[
        "A literal has a value and a type. Who makes sure that they belong together?",
        "Whoever reads the type of `2:f64[]` believes it, and compiles code for it. The value is an integer.",
        "Compare `np.asarray(atom.val)` with `atom.aval`: both 0-d, and of one dtype.",
    ],
)
def check_atom(self, atom):
    if isinstance(atom, Var) and atom not in self.bound:
        self.fail("{} is used and not bound", atom)


@right("jaxprs.bind")
def bind(self, variables):
    if len(set(variables)) < len(variables) or not self.bound.isdisjoint(variables):
        self.fail("A variable is bound a second time")
    self.bound |= set(variables)


@right("jaxprs.bind")
def bind(self, variables):
    for var in variables:
        before = len(self.bound)
        self.bound.add(var)
        if len(self.bound) == before:
            self.fail("{} has a value", var)


@mistake(
    "jaxprs.bind",
    name="A variable may be bound again",
    hints=[
        "In Python a name may be assigned twice. What would that mean for a program whose equations may be moved about?",
        "In a jaxpr a variable has one value for good (static single assignment). A second binding is a mistake of whoever made the program.",
        "Before you add a variable to `self.bound`, look whether it is in there, and complain if it is.",
    ],
)
def bind(self, variables):
    self.bound.update(variables)


@mistake(
    "jaxprs.bind",
    name="A variable that stands twice in one list is accepted",
    hints=[
        "Bind `[a, a]`. When you look at the second one, is the first one in the set?",
        "Looking at all of them first and adding them all later misses two that are the same.",
        "One loop: look at a variable, then add it, then go to the next one.",
    ],
)
def bind(self, variables):
    for var in variables:
        if var in self.bound:
            self.fail("{} is bound twice", var)
    self.bound.update(variables)


@right("jaxprs.check_equation")
def check_equation(self, eqn):
    self.check_inner(eqn)
    [self.check_atom(atom) for atom in eqn.invars]
    got = [(aval.shape, aval.dtype) for aval in self.result_types(eqn)]
    want = [(var.aval.shape, var.aval.dtype) for var in eqn.outvars]
    if got != want:
        self.fail("The results are not what the variables say")
    self.bind(eqn.outvars)


@right("jaxprs.check_equation")
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


@mistake(
    "jaxprs.check_equation",
    name="The dtype of a result is not compared",
    hints=[
        "An equation binds an f64 variable, and the rule says that the result is f32. Does yours complain?",
        "A type here is a shape and a dtype. A later operation relies on both.",
        "Compare the pair `(aval.shape, aval.dtype)` with that of the variable.",
    ],
)
def check_equation(self, eqn):
    for atom in eqn.invars:
        self.check_atom(atom)
    self.check_inner(eqn)
    avals = self.result_types(eqn)
    if len(avals) != len(eqn.outvars):
        self.fail("{} results where {} are bound", len(avals), len(eqn.outvars))
    for var, aval in zip(eqn.outvars, avals, strict=True):
        if var.aval.shape != aval.shape:
            self.fail("the result is {} and not {}", str(aval), str(var.aval))
    self.bind(eqn.outvars)


@mistake(
    "jaxprs.check_equation",
    name="The number of results is not compared",
    hints=[
        "What does `zip` do with lists of different lengths?",
        "`zip` ends with the shorter list. A variable that gets no result is then bound all the same.",
        "Compare `len(avals)` with `len(eqn.outvars)` first.",
    ],
)
def check_equation(self, eqn):
    for atom in eqn.invars:
        self.check_atom(atom)
    self.check_inner(eqn)
    for var, aval in zip(eqn.outvars, self.result_types(eqn)):
        if (var.aval.shape, var.aval.dtype) != (aval.shape, aval.dtype):
            self.fail("the result is {} and not {}", str(aval), str(var.aval))
    self.bind(eqn.outvars)


@mistake(
    "jaxprs.check_equation",
    name="Results are bound before the operands are checked",
    hints=[
        "Check the equation `b = sin b`. Can it be computed?",
        "An equation computes its results from its operands. When the operands are looked at, the results do not exist yet.",
        "Call `self.bind(eqn.outvars)` as the last step.",
    ],
)
def check_equation(self, eqn):
    self.bind(eqn.outvars)
    for atom in eqn.invars:
        self.check_atom(atom)
    self.check_inner(eqn)
    avals = self.result_types(eqn)
    if len(avals) != len(eqn.outvars):
        self.fail("{} results where {} are bound", len(avals), len(eqn.outvars))
    for var, aval in zip(eqn.outvars, avals, strict=True):
        if (var.aval.shape, var.aval.dtype) != (aval.shape, aval.dtype):
            self.fail("the result is {} and not {}", str(aval), str(var.aval))
