#!/usr/bin/env python3
"""Writes a generated fraud graph: 16,000 customers, 4,000 shops, and an edge for every purchase.

160 customers (1 %) are fraudsters, in rings of eight that share six shops. Customers have eight features;
three of them are shifted for fraudsters. Shops have the same columns with random values, and no label. Half
of the customers train, 1,000 others (10 of them fraudsters) test, and the rest validates.

usage: fraud.py FOLDER [SEED [SHIFT [SHARE [CUSTOMERS]]]]
       shift of the features (1), share of a fraudster's purchases that go to the ring's shops (0.7),
       number of customers (16000); there are a quarter as many shops
"""
import itertools
import os
import random
import sys

RING, RING_SHOPS = 8, 6
TEST = 10, 990  # frauds, others


def purchases(draw, users, ring, share):
    """(customer, shop), each once; honest purchases follow the shops' popularity."""
    count = users // 4
    popular = list(itertools.accumulate(1 / (i + 5) ** 0.6 for i in range(count)))
    rings = -(-len(ring) // RING)  # the last one may be smaller
    shops = [draw.sample(range(count), RING_SHOPS) for _ in range(rings)]
    found = set()
    for user in range(users):
        for _ in range(draw.randint(3, 9)):
            if user in ring and draw.random() < share:
                shop = draw.choice(shops[ring[user]])
            else:
                shop = draw.choices(range(count), cum_weights=popular)[0]
            found.add((user, shop))
    return sorted(found)


def roles(draw, users, ring):
    role = {}
    kinds = [u for u in range(users) if u in ring], [u for u in range(users) if u not in ring]
    for members, half, test in zip(kinds, (len(ring) // 2, users // 2), TEST):
        draw.shuffle(members)
        for i, user in enumerate(members):
            role[user] = "train" if i < half else "val" if i < len(members) - test else "test"
    return role


def main(folder, seed=0, shift=1.0, share=0.7, customers=16000):
    draw, users = random.Random(int(seed)), int(customers)
    frauds = draw.sample(range(users), users // 100)
    ring = {user: i // RING for i, user in enumerate(frauds)}
    os.makedirs(folder, exist_ok=True)
    with open(os.path.join(folder, "edges.csv"), "w", encoding="utf-8") as out:
        out.write("source,target\n")
        out.writelines(f"u{user},s{shop}\n"
                       for user, shop in purchases(draw, users, ring, float(share)))
    role = roles(draw, users, ring)
    with open(os.path.join(folder, "nodes.csv"), "w", encoding="utf-8") as out:
        out.write("id,label,split," + ",".join(f"x{i}" for i in range(8)) + "\n")
        for node in range(users + users // 4):
            moved = float(shift) if node in ring else 0
            x = ",".join(f"{draw.gauss(0, 1) + (moved if i < 3 else 0):.3f}" for i in range(8))
            if node < users:
                out.write(f"u{node},{'fraud' if node in ring else 'honest'},{role[node]},{x}\n")
            else:
                out.write(f"s{node - users},,,{x}\n")


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    main(*sys.argv[1:])
