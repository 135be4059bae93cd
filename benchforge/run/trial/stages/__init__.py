"""The five stages of a trial: `order.py` names them in their order."""
