"""Uses the installed package with only NumPy. check_python.sh and cibuildwheel run it outside of the repository."""
import sys, numpy as np, consm
assert "site-packages" in consm.__file__, consm.__file__
g = consm.load("karate")
m = consm.GCNClassifier(random_state=0, per_class=4).fit(g)
assert m.score(g) > 0.8 and m.edge_trust(g).trust.shape == (78,)
h = consm.Graph.from_arrays(np.array([[0, 1, 2, 3], [1, 2, 3, 0]]), np.eye(4))
assert consm.ConSMClassifier(epochs=5).fit(h, [0, 1, 0, 1]).predict(h).shape == (4,)
assert consm.ot.emd2(None, None, np.ones((2, 2))) == 1
assert not {"scipy", "pandas"} & set(sys.modules)
