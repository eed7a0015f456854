# title = "Puts escape sequences of terminals into messages"
# tries = "An instructor's terminal that shows them changes colour, title or contents."
# answer = 'raise ValueError("\x1b]0;eve\x07\x1b[2J\x1b[31m full points")'
print("\x1b[2J")
