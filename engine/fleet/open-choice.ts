import { asSvcError } from '../core/base/errors.ts';
import type { MachineChoice } from '../dispatch/index.ts';
import { type Candidate, chooseCandidate } from './choose-machine.ts';
import type { MachineState } from './machine-connection.ts';
import type { RunnerRecord } from './records.ts';

export interface ChoiceDeps {
  listRecords(): readonly RunnerRecord[];
  readState(id: string): MachineState | null;
  hasPrograms(id: string, programs: readonly string[]): boolean | null;
  /** Throws `share_missing` if a project may not be sent to a pool. */
  checkShare(project: string | null, pool: string): void;
  listPrograms(agent: string): readonly string[];
  listHolders(sessionId: string): readonly string[];
  /** The guard profile of a session before its first run. */
  readProfile(): string;
  now(): number;
}

/** Opens the choice of machines for the sessions that wait now: a queue of thousands asks each question once. */
export function openChoice(deps: ChoiceDeps, working: ReadonlyMap<string | null, number>): MachineChoice {
  const counts = new Map(working);
  const now = deps.now();
  const configured = deps.readProfile();
  /** Why no machine takes sessions of a kind: what is full stays full, since `take` only adds. */
  const refused = new Map<string, string>();
  const shares = new Map<string, string | null>();
  const pools = new Map<string, Omit<Candidate, 'working' | 'isHolder'>[]>();

  function findShareProblem(project: string | null, pool: string): string | null {
    const key = `${pool} ${project ?? ''}`;
    const known = shares.get(key);
    if (known !== undefined) return known;
    let problem: string | null = null;
    try {
      deps.checkShare(project, pool);
    } catch (error) {
      problem = asSvcError(error).message;
    }
    shares.set(key, problem);
    return problem;
  }

  function listMachines(agent: string, pool: string | null, only: string | null) {
    const key = `${agent} ${pool ?? ''} ${only ?? ''}`;
    const known = pools.get(key);
    if (known !== undefined) return known;
    const programs = deps.listPrograms(agent);
    const found = deps
      .listRecords()
      .filter(({ id, pool: own }) => (only === null ? own === pool : id === only))
      .map((record) => ({
        record,
        state: deps.readState(record.id),
        hasAgent: deps.hasPrograms(record.id, programs),
      }));
    pools.set(key, found);
    return found;
  }

  return {
    choose({ sessionId, pool, runner, mayMove, agent, project, profile = null }) {
      const isStrict = (profile ?? configured) === 'strict';
      const key = [agent, pool, project ?? '', runner ?? '', mayMove, isStrict].join('\n');
      const known = refused.get(key) ?? findShareProblem(project, pool);
      if (known !== null) return { why: known };
      const only = runner === null || mayMove ? null : runner;
      const machines = listMachines(agent, only === null ? pool : null, only);
      if (machines.length === 0 && runner !== null) return { why: 'its machine was removed' };
      const holders = sessionId === null ? [] : deps.listHolders(sessionId);
      const candidates = machines.map((each) => ({
        ...each,
        working: counts.get(each.record.id) ?? 0,
        isHolder: holders.includes(each.record.id),
      }));
      const choice = chooseCandidate(candidates, { agent, isStrict }, { home: runner, now });
      if ('why' in choice && holders.length === 0) refused.set(key, choice.why);
      return choice;
    },
    take: (runner) => void counts.set(runner, (counts.get(runner) ?? 0) + 1),
  };
}
