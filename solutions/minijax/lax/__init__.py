from minijax.lax.basic import *
