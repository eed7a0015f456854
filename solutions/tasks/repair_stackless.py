from microjax.stackless import Interpreter


class Dependence(Interpreter):
    def open(self, x):
        return (x.value, x.extra) if self.owns(x) else (x, set())
