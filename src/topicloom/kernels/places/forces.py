"""Forces that push hubs apart and pull groups together (ForceAtlas2: Jacomy et al., 2014), and discs that give way."""

import numpy as np

from topicloom.kernels.jit import serial

_PULL_OF_A_GROUP = 0.7
_TOLERANCE = 0.05


@serial
def push_apart(x, start, near, mass, group, groups, rounds, gravity, scaling):
    """Run rounds of ForceAtlas2 with exact repulsion.

    Parameters
    ----------
    x : (n, 2) float64 array
        Places; moved.
    start, near : int64 arrays
        The links, CSR by node.
    mass : (n,) float64 array
    group : (n,) int64 array
        Group of each node, pulled to the middle of its own; ignored with fewer than two ``groups``.
    groups, rounds : int
    gravity, scaling : float
        Pull to the middle of the picture, and strength of the repulsion.

    Cost: O(rounds · nodes²).
    """
    n = len(x)
    old, force = np.zeros((n, 2)), np.zeros((n, 2))
    speed, efficiency = 1.0, 1.0
    for _ in range(rounds):
        for v in range(n):
            old[v, 0], old[v, 1] = force[v, 0], force[v, 1]
            d = np.sqrt(x[v, 0] * x[v, 0] + x[v, 1] * x[v, 1]) + 1e-9
            q = gravity * mass[v] / d
            force[v, 0], force[v, 1] = -x[v, 0] * q, -x[v, 1] * q
        _repel(x, mass, force, scaling)
        _attract(x, start, near, force)
        if groups > 1:
            _gather_groups(x, mass, group, groups, force)
        swing, traction = 0.0, 0.0
        for v in range(n):
            ax, ay = old[v, 0] - force[v, 0], old[v, 1] - force[v, 1]
            bx, by = old[v, 0] + force[v, 0], old[v, 1] + force[v, 1]
            swing += mass[v] * np.sqrt(ax * ax + ay * ay)
            traction += mass[v] * np.sqrt(bx * bx + by * by) / 2.0
        root = _TOLERANCE * np.sqrt(float(n))
        jitter = max(np.sqrt(root), min(10.0, root * traction / (n * n)))
        if swing > 2.0 * traction:
            efficiency = max(efficiency * 0.5, 0.05)
            jitter = max(jitter, 1.0)
        target = jitter * efficiency * traction / (swing + 1e-12)
        if swing > jitter * traction:
            efficiency = max(efficiency * 0.7, 0.05)
        elif speed < 1000.0:
            efficiency *= 1.3
        speed += min(target - speed, 0.5 * speed)
        for v in range(n):
            ax, ay = old[v, 0] - force[v, 0], old[v, 1] - force[v, 1]
            q = speed / (1.0 + np.sqrt(speed * mass[v] * np.sqrt(ax * ax + ay * ay)))
            x[v, 0] += force[v, 0] * q
            x[v, 1] += force[v, 1] * q


@serial
def _repel(x, mass, force, scaling):
    for v in range(len(x)):
        fx, fy = 0.0, 0.0
        for w in range(v):
            dx, dy = x[v, 0] - x[w, 0], x[v, 1] - x[w, 1]
            q = scaling * mass[v] * mass[w] / (dx * dx + dy * dy + 1e-9)
            fx += dx * q
            fy += dy * q
            force[w, 0] -= dx * q
            force[w, 1] -= dy * q
        force[v, 0] += fx
        force[v, 1] += fy


@serial
def _attract(x, start, near, force):
    for v in range(len(x)):
        for e in range(start[v], start[v + 1]):
            w = near[e]
            if w < v:
                dx, dy = x[v, 0] - x[w, 0], x[v, 1] - x[w, 1]
                force[v, 0] -= dx
                force[v, 1] -= dy
                force[w, 0] += dx
                force[w, 1] += dy


@serial
def _gather_groups(x, mass, group, groups, force):
    middle, count = np.zeros((groups, 2)), np.zeros(groups)
    for v in range(len(x)):
        middle[group[v], 0] += x[v, 0]
        middle[group[v], 1] += x[v, 1]
        count[group[v]] += 1.0
    for v in range(len(x)):
        g = group[v]
        q = _PULL_OF_A_GROUP * np.sqrt(mass[v])
        force[v, 0] += (middle[g, 0] / count[g] - x[v, 0]) * q
        force[v, 1] += (middle[g, 1] / count[g] - x[v, 1]) * q


@serial
def separate(x, radius, rounds):
    """Push discs apart that overlap. The smaller one of two gives way.

    Parameters
    ----------
    x : (n, 2) float64 array
        Middles of the discs; moved.
    radius : (n,) float64 array
    rounds : int
        At most so many looks at all pairs.

    Cost: O(rounds · nodes²).
    """
    n = len(x)
    for _ in range(rounds):
        moved = False
        for v in range(n):
            for w in range(v):
                dx, dy = x[v, 0] - x[w, 0], x[v, 1] - x[w, 1]
                want = radius[v] + radius[w]
                if abs(dx) < want and abs(dy) < want:
                    d = np.sqrt(dx * dx + dy * dy)
                    if d < want:
                        moved = True
                        if d < 1e-9:
                            dx, dy, d = 1e-3 * (v % 7 - 3), 1e-3 * (w % 5 - 2) + 1e-4, 3e-3
                        q = (want - d) / d / (want * 2.0)
                        x[v, 0] += dx * q * radius[w]
                        x[v, 1] += dy * q * radius[w]
                        x[w, 0] -= dx * q * radius[v]
                        x[w, 1] -= dy * q * radius[v]
        if not moved:
            break


@serial
def stand_beside(x, start, near, by_degree, degree, angles):
    """Place the nodes that have none beside their busiest neighbour that has one, on a spiral.

    Parameters
    ----------
    x : (n, 2) float64 array
        Places, NaN where there is none; filled.
    start, near : int64 arrays
        The links, CSR by node.
    by_degree : int64 array
        Nodes, the busiest first.
    degree : int64 array
    angles : (256, 2) float64 array
        Directions.

    Cost: O(depth · (nodes + links)), at most 64 passes.
    """
    n = len(x)
    held = np.zeros(n, np.int64)
    for _ in range(64):
        left = 0
        for i in range(n):
            v = by_degree[i]
            if not np.isnan(x[v, 0]):
                continue
            anchor, sx, sy, placed = -1, 0.0, 0.0, 0
            for e in range(start[v], start[v + 1]):
                w = near[e]
                if not np.isnan(x[w, 0]):
                    sx += x[w, 0]
                    sy += x[w, 1]
                    placed += 1
                    if anchor < 0 or degree[w] > degree[anchor]:
                        anchor = w
            if anchor < 0:
                left += 1
                continue
            k = held[anchor]
            held[anchor] += 1
            r = 0.12 + 0.045 * np.sqrt(k + 1.0)
            pull = 0.5 if placed > 1 else 0.0
            x[v, 0] = x[anchor, 0] + (sx / placed - x[anchor, 0]) * pull + r * angles[k % 256, 0]
            x[v, 1] = x[anchor, 1] + (sy / placed - x[anchor, 1]) * pull + r * angles[k % 256, 1]
        if left == 0:
            break
    for v in range(n):
        if np.isnan(x[v, 0]):
            x[v, 0], x[v, 1] = 0.0, 0.0
