# title = "Submits files that Python runs by itself"
# tries = "conftest.py, sitecustomize.py, .pth, numpy.py and poisoned bytecode lie beside the module."
# kind = "folder"
# reported = "crashed"
place = (folder / name).parent
place.mkdir()
(folder / name).write_text("""
raise NotImplementedError("jvp.flat")
""")
evil = "open('@DROP@/ran', 'w'); import os; os._exit(0)\n"
for where in (folder, place, place / "__pycache__"):
    where.mkdir(exist_ok=True)
    names = ("conftest.py", "sitecustomize.py", "numpy.py", "evil.pth", "pytest.ini", "__init__.py")
    for other in (*names, "core.py", "jvp.cpython-311.pyc"):
        (where / other).write_text(evil)
