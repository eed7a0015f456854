from minijax.numpy.basic import *
