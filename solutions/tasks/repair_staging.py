class Table:
    def write(self, atom, value):
        """Keep the value of an atom."""
        self.entries[atom] = value

    def read(self, atom, otherwise):
        """The value of an atom, or what to take if it has none."""
        return self.entries.get(atom, otherwise)
