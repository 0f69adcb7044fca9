/** The inputs for the order of a queue. */
export interface WaitingRun {
  sessionId: string;
  agent: string;
  project: string | null;
  priority: number;
  /** The machine that it would run on; null for this one. */
  runner: string | null;
}

/**
 * Chooses which waiting sessions start now, at most as many on a machine as it has room for. Higher priority goes
 * first; then the project with the fewest workers, so that a long queue of one does not starve the others; then the
 * older. A session without room does not delay those of other machines.
 * @param waiting older ones first
 * @param rooms how many more each machine takes; none where it is missing
 * @param working the projects of working sessions, wherever they work
 * @param limits how many more of an agent may start; unlimited for others
 */
export function chooseNext(
  waiting: readonly WaitingRun[],
  {
    rooms,
    working,
    limits,
  }: {
    rooms: ReadonlyMap<string | null, number>;
    working: readonly (string | null)[];
    limits: ReadonlyMap<string, number>;
  },
): WaitingRun[] {
  const busy = new Map<string | null, number>();
  const addBusyProject = (project: string | null): void =>
    void busy.set(project, (busy.get(project) ?? 0) + 1);
  for (const project of working) addBusyProject(project);
  const left = new Map(limits);
  const free = new Map([...rooms].filter(([, room]) => room > 0));
  const canStart = ({ agent, runner }: WaitingRun): boolean => left.get(agent) !== 0 && free.has(runner);
  const lines = groupLines(waiting);
  const begun: WaitingRun[] = [];
  while (free.size > 0) {
    let best: Line | null = null;
    for (const line of lines) {
      // Sessions that must not start are skipped, and do not delay the ones behind them.
      while (line.waiting[0] !== undefined && !canStart(line.waiting[0])) line.waiting.shift();
      const [head] = line.waiting;
      if (head !== undefined && (best === null || goesBefore(line, best, busy))) best = line;
    }
    const next = best?.waiting.shift();
    if (next === undefined) break;
    begun.push(next);
    addBusyProject(next.project);
    const more = left.get(next.agent);
    if (more !== undefined) left.set(next.agent, more - 1);
    const room = (free.get(next.runner) ?? 0) - 1;
    if (room > 0) free.set(next.runner, room);
    else free.delete(next.runner);
  }
  return begun;
}

/** Sessions of one project and priority, the older first: only the head can be next. */
interface Line {
  priority: number;
  project: string | null;
  waiting: (WaitingRun & { at: number })[];
}

function groupLines(waiting: readonly WaitingRun[]): Line[] {
  const lines = new Map<string, Line>();
  waiting.forEach((each, at) => {
    const { priority, project } = each;
    const key = JSON.stringify([priority, project]);
    const line = lines.get(key) ?? { priority, project, waiting: [] };
    line.waiting.push({ ...each, at });
    lines.set(key, line);
  });
  return [...lines.values()];
}

function goesBefore(one: Line, other: Line, busy: ReadonlyMap<string | null, number>): boolean {
  if (one.priority !== other.priority) return one.priority > other.priority;
  const loads = (busy.get(one.project) ?? 0) - (busy.get(other.project) ?? 0);
  if (loads !== 0) return loads < 0;
  return (one.waiting[0]?.at ?? 0) < (other.waiting[0]?.at ?? 0);
}
