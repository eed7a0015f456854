"""Known mistakes of the lesson jaxprs: each function stands in for the target of its exercise.

This file is parsed, never imported (see `autograder/grading/answers.py`).
"""


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
    return ShapedArray(tuple(rest), np.dtype(preferred_element_type or x.dtype))


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
