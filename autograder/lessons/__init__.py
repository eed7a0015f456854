"""What a lesson is (manifest, tree, places), and what is made from it (skeleton, notebook, page).

Every room but `worker` and `sandbox`'s keeper may import it; it imports no other room.
"""
