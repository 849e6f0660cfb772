"""From a question to conditions: linking, dates, the form put to the model, assembling."""
