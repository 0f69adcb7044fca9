import type { ProcessEntry, ProcessTable } from '../../../core/platform/index.ts';
import type { EngineProcess } from '../../../core/workspace/daemon-record.ts';
import { ENGINE_MARK, MARK } from './marks.ts';

/** Identifies one process: pids are reused, with another start time. */
export interface ProcessName {
  pid: number;
  pidStart: string;
}

/** The known facts about where a process comes from. */
export interface ProcessOrigin {
  /** The marks of the runs that it or an ancestor belongs to, by environment or cgroup, the nearest first. */
  runs: string[];
  /** True if the engine started it or one of its ancestors. */
  isOfEngine: boolean;
  /** The reason why it cannot be treated as a person's process, as a clause; null if every needed fact is known. */
  doubt: string | null;
}

export interface TraceDeps {
  table: ProcessTable;
  enginePid: number;
  /** The runs whose cgroups contain a path, innermost first. */
  runsOfCgroup(path: string): string[];
  /** Reports whether a cgroup is an engine's own, which its child processes are created in. */
  isEngineCgroup(path: string): boolean;
  /** An earlier engine that has ended without stopping; null for none. */
  lostEngine: EngineProcess | null;
  /** Reports whether a person has used svc from a session while an engine ran that could tell. */
  isKnownSession(leader: ProcessEntry): boolean;
  /** Reports whether processes of other users are invisible here. */
  hidesOthers(): boolean;
}

/** Ancestors beyond this depth are not followed. */
const MAX_ANCESTORS = 256;

export const NOT_KNOWN = 'this machine does not report which process is calling';

/**
 * Follows a process up to init, or to the top of this pid namespace. The environment of another user's process (sudo,
 * sshd) cannot be read, which does not raise doubt: its parents and its cgroup can be read. An orphan of an engine
 * looks like a person's process once that engine has died. So after such a death there must be evidence that the
 * caller is older, or comes from outside: see `isOlderThan`.
 */
export function traceAncestors(process: ProcessName | null, deps: TraceDeps): ProcessOrigin {
  const { table, enginePid, lostEngine } = deps;
  let isAnchored = lostEngine === null;
  if (process === null) return { runs: [], isOfEngine: false, doubt: NOT_KNOWN };
  const runs = new Set<string>();
  let isOfEngine = false;
  let doubt: string | null = null;
  const addDoubt = (why: string): void => {
    doubt ??= why;
  };
  const { pid, pidStart } = process;
  const first = table.read(pid);
  if (typeof first !== 'object' || first.zombie || first.start !== pidStart)
    return { runs: [], isOfEngine: false, doubt: 'the process that connected has ended' };
  // The engine's own process may contain a client: the person who hosts it.
  if (pid === enginePid) return { runs: [], isOfEngine: false, doubt: null };

  let entry: ProcessEntry = first;
  for (let depth = 0; ; depth += 1) {
    if (lostEngine !== null) isAnchored ||= isOlderThan(lostEngine, entry, deps);
    const mark = table.readVariable(entry.pid, MARK);
    if (mark !== null) runs.add(mark);
    const place = table.findPlace(entry.pid);
    if (place === null) addDoubt(`process ${entry.pid} above it cannot be inspected`);
    for (const run of place?.cgroup == null ? [] : deps.runsOfCgroup(place.cgroup)) runs.add(run);
    if (place?.isNested === true)
      addDoubt('it is in a separate pid namespace, as in a sandbox or a container');
    const isInEngineCgroup = place?.cgroup != null && deps.isEngineCgroup(place.cgroup);
    if (table.readVariable(entry.pid, ENGINE_MARK) !== null || entry.ppid === enginePid || isInEngineCgroup) {
      isOfEngine = true;
      addDoubt('the engine itself started it');
    }
    if (entry.ppid <= 0 || entry.ppid === enginePid) break;
    if (depth === MAX_ANCESTORS) {
      addDoubt(`it has more than ${MAX_ANCESTORS} processes above it`);
      break;
    }
    const above = findParent(entry, table);
    if (typeof above === 'object') {
      entry = above;
      continue;
    }
    if (above === 'ended') addDoubt('a process above it has just ended');
    // It belongs to another user, so not to any of our runs.
    else if (!deps.hidesOthers()) addDoubt(`process ${entry.ppid} above it cannot be inspected`);
    break;
  }
  if (!isAnchored) addDoubt(NOT_ANCHORED);
  return { runs: [...runs], isOfEngine, doubt };
}

const NOT_ANCHORED =
  'an engine of this workspace was killed, and this process could be one that it left behind: use a terminal from which you have used it before, or log in again';

/**
 * Reports whether a process cannot descend from a dead engine: it or its session is older, a person has used svc from
 * that session before, it comes from outside this pid namespace, or it belongs to another login. Any other session
 * proves nothing, since an orphan can create one, with a terminal too. Neither does a process that adopts orphans.
 */
function isOlderThan(
  { start, login }: EngineProcess,
  entry: ProcessEntry,
  { table, isKnownSession }: TraceDeps,
): boolean {
  const isOlder = (other: ProcessEntry): boolean => Number(other.start) < Number(start);
  const own = table.readLogin(entry.pid);
  if (own !== null && own !== login) return true;
  if (entry.pid !== 1 && entry.ppid === 0) return true;
  const leader = entry.sid === entry.pid ? entry : table.read(entry.sid);
  if (typeof leader === 'object' && isKnownSession(leader)) return true;
  if (leader !== entry && typeof leader === 'object' && isOlder(leader)) return true;
  return isOlder(entry) && !table.adoptsOrphans(entry.pid);
}

/** Returns the parent process; `ended` if the process itself is gone, `hidden` if its parent exists but cannot be read. */
function findParent(entry: ProcessEntry, table: ProcessTable): ProcessEntry | 'ended' | 'hidden' {
  let child = entry;
  // If a parent ends in the meantime, another one replaces it.
  for (let tries = 0; tries < 5; tries += 1) {
    const parent = table.read(child.ppid);
    // A younger process has merely reused the parent's pid.
    if (typeof parent === 'object' && Number(parent.start) <= Number(child.start)) return parent;
    const again = table.read(child.pid);
    if (typeof again !== 'object' || again.start !== child.start) return 'ended';
    if (again.ppid === child.ppid) return 'hidden';
    child = again;
  }
  return 'hidden';
}
