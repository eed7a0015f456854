"""What a lesson is (manifest, tree, places), and what is made from it (skeleton, notebook, page).

Every room but `worker` may import it; it imports no other room.
"""
