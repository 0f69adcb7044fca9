import type { Git } from './git.ts';

/** Commits with their parents, children first. */
type Graph = ReadonlyMap<string, readonly string[]>;

/** How one commit has diverged from a base. */
export interface BranchDivergence {
  /** Commits that only this one has, children first, with the number of parents. */
  own: { id: string; parents: number }[];
  /** The newest commit that it shares with the base; null if the histories are unrelated. */
  fork: string | null;
  /** How many commits only the base has. */
  behind: number;
  /** Those commits. */
  baseOnly(): ReadonlySet<string>;
}

export interface BranchDivergences {
  byTip: Map<string, BranchDivergence>;
  /** Commits of the base that all tips contain: anything older is irrelevant to them. */
  boundary: string[];
}

async function readGraph(
  git: Git,
  cwd: string,
  wanted: readonly string[],
  known: readonly string[],
): Promise<Graph> {
  if (wanted.length === 0) return new Map();
  const input = `${[...wanted, ...known.map((id) => `^${id}`)].join('\n')}\n`;
  const { stdout } = await git.run(cwd, ['rev-list', '--topo-order', '--parents', '--stdin'], { input });
  const graph = new Map<string, string[]>();
  for (const line of stdout.split('\n')) {
    const [id = '', ...parents] = line.split(' ');
    if (id !== '') graph.set(id, parents);
  }
  return graph;
}

/** Lists everything in a graph that is reachable from these commits, including them. */
function findReachable(graph: Graph, from: readonly string[]): Set<string> {
  const found = new Set<string>();
  const queue = from.filter((id) => graph.has(id));
  for (let id = queue.pop(); id !== undefined; id = queue.pop()) {
    if (found.has(id)) continue;
    found.add(id);
    for (const parent of graph.get(id) ?? []) if (graph.has(parent)) queue.push(parent);
  }
  return found;
}

/** Lists commits of the base that every fork contains; none if its history has several roots. */
async function findBoundary(git: Git, cwd: string, forks: readonly string[]): Promise<string[]> {
  if (forks.length < 2) return [...forks];
  const { stdout } = await git.run(cwd, ['merge-base', '--octopus', ...forks], { allowFail: true });
  return stdout.split('\n').filter((id) => id !== '');
}

/**
 * Finds how commits have diverged from a base, with two or three git calls for any number of commits. Throws if git
 * cannot read one of them.
 * @param target the base's commit, as a full id
 * @param tips full ids
 */
export async function findDivergences(
  git: Git,
  cwd: string,
  target: string,
  tips: readonly string[],
): Promise<BranchDivergences> {
  const ahead = await readGraph(git, cwd, tips, [target]);
  const places = [...new Set(tips)].map((tip) => {
    const ids = findReachable(ahead, [tip]);
    const own = [...ahead].flatMap(([id, parents]) => (ids.has(id) ? [{ id, parents }] : []));
    const edges = own.flatMap(({ parents }) => parents.filter((id) => !ahead.has(id)));
    return { tip, own, forks: ids.size === 0 ? [tip] : [...new Set(edges)] };
  });
  const forks = [...new Set(places.flatMap((place) => place.forks))];
  const boundary = await findBoundary(git, cwd, forks);
  const isAtTarget = boundary.length === 1 && boundary[0] === target;
  const isUnrelated = places.some((place) => place.forks.length === 0);
  const base =
    isAtTarget && !isUnrelated ? new Map() : await readGraph(git, cwd, [target], isUnrelated ? [] : boundary);
  const order = new Map([...base.keys()].map((id, at) => [id, at]));
  const counts = new Map<string, number>();
  const byTip = new Map(
    places.map(({ tip, own, forks }): [string, BranchDivergence] => {
      const baseOnly = (): Set<string> => {
        const held = findReachable(base, forks);
        return new Set([...base.keys()].filter((id) => !held.has(id)));
      };
      const key = forks.toSorted().join(' ');
      const behind = counts.get(key) ?? base.size - findReachable(base, forks).size;
      counts.set(key, behind);
      const newest = forks.toSorted(
        (one, other) => (order.get(one) ?? base.size) - (order.get(other) ?? base.size),
      );
      return [
        tip,
        {
          own: own.map(({ id, parents }) => ({ id, parents: parents.length })),
          fork: newest[0] ?? null,
          behind,
          baseOnly,
        },
      ];
    }),
  );
  return { byTip, boundary };
}
