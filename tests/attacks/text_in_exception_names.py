# title = "Carries text out in the name of an exception's class"
# tries = "Feedback that shows the class shows what the submission has called it."
# answer = "raise type('<b>loot</b>', (Exception,), {})()"
