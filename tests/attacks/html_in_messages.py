# title = "Puts HTML into everything that might be shown"
# tries = "A feedback page runs it in the browser of whoever reads."
# answer = "raise type('<b>x</b>', (ValueError,), {})('<b><script>alert(1)</script></b>')"
print("<b>printed</b>")
