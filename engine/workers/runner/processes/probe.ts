import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { setImmediate as nextTurn } from 'node:timers/promises';

/** The variable that marks every process of a run, even one that left its group (R5). */
export const MARK = 'SVC_RUN_ID';

/** The variable that marks every process that the engine starts itself: git, commands, agents. */
export const ENGINE_MARK = 'SVC_ENGINE_CHILD';

export interface ProcessEntry {
  pid: number;
  ppid: number;
  pgid: number;
  /** Its session (setsid(2)): the pid of the process that created it. */
  sid: number;
  /** True for an ended process that has not been waited for: it cannot act and cannot be killed. */
  zombie: boolean;
  /** Start time: clock ticks since boot on Linux, epoch seconds on macOS. Together with the pid it identifies one process. */
  start: string;
}

/** Reads this machine's process table. A failed check is `unknown` or null, never "gone" (R6). */
export interface ProcessProbe {
  read(pid: number): ProcessEntry | 'gone' | 'unknown';
  /** Lists every process, or null if the table cannot be read. */
  list(): Promise<ProcessEntry[] | null>;
  /** Returns the value of SVC_RUN_ID in the process's initial environment; null also if unreadable. */
  readRunMark(pid: number): string | null;
  /** Reports whether SVC_ENGINE_CHILD was in its initial environment; false also if unreadable. */
  isEngineChild(pid: number): boolean;
  /** Returns the login that a process belongs to, as the kernel numbers them (pam_loginuid(8)); null for none. */
  readLogin(pid: number): string | null;
  /** Reports whether it adopts orphans as init does: init itself, or a user's service manager. */
  adoptsOrphans(pid: number): boolean;
  /** Returns the kernel's location of the process; null if it is gone, or the machine does not report it. */
  findPlace(pid: number): ProcessPlace | null;
}

/** A process's cgroup and pid namespace. Unlike its environment these can be read for every user's processes. */
export interface ProcessPlace {
  /** Its version 2 cgroup, as a path below the root of that hierarchy; null when there is none. */
  cgroup: string | null;
  /** True if it is in a pid namespace below that of this process. */
  isNested: boolean;
}

/**
 * Parses /proc/<pid>/stat. The second field is the program's name in parentheses and may itself contain spaces and
 * parentheses, so fields are counted from the last closing one.
 */
export function parseStat(text: string): ProcessEntry | null {
  const open = text.indexOf('(');
  const close = text.lastIndexOf(')');
  if (open < 0 || close < open) return null;
  const fields = text.slice(close + 2).split(' ');
  const [state, ppid, pgid, sid] = fields;
  const start = fields[19]; // field 22 of proc(5), counted from field 3
  if (
    state === undefined ||
    ppid === undefined ||
    pgid === undefined ||
    sid === undefined ||
    start === undefined
  )
    return null;
  return {
    pid: Number(text.slice(0, open)),
    ppid: Number(ppid),
    pgid: Number(pgid),
    sid: Number(sid),
    zombie: state === 'Z' || state === 'X',
    start,
  };
}

/** The kernel's value for a process without a login. */
const NO_LOGIN = '4294967295';

const isGoneError = (error: unknown): boolean => {
  const code = (error as NodeJS.ErrnoException).code;
  return code === 'ENOENT' || code === 'ESRCH';
};

const findVariable = (environment: string, variable: string): string | null => {
  const name = `${variable}=`;
  const at = `\0${environment}`.indexOf(`\0${name}`);
  if (at < 0) return null;
  const end = environment.indexOf('\0', at);
  return environment.slice(at + name.length, end < 0 ? environment.length : end);
};

/**
 * Linux, by /proc. Files are read as UTF-8 only: for other encodings Node allocates two 64 KiB buffers for every file
 * of unknown size, and an engine under load kept thousands of them.
 */
export function createLinuxProbe(proc = '/proc'): ProcessProbe {
  const readProcess: ProcessProbe['read'] = (pid) => {
    try {
      return parseStat(readFileSync(`${proc}/${pid}/stat`, 'utf8')) ?? 'unknown';
    } catch (error) {
      // Without /proc every pid would look gone.
      return isGoneError(error) && existsSync(`${proc}/self/stat`) ? 'gone' : 'unknown';
    }
  };
  const readVariable = (pid: number, name: string): string | null => {
    try {
      return findVariable(readFileSync(`${proc}/${pid}/environ`, 'utf8'), name);
    } catch {
      return null;
    }
  };
  const readCgroup = (pid: number): string | null => {
    try {
      return /^0::(.*)$/m.exec(readFileSync(`${proc}/${pid}/cgroup`, 'utf8'))?.[1] ?? null;
    } catch {
      return null; // a kernel without them
    }
  };
  return {
    read: readProcess,
    async list() {
      let names: string[];
      try {
        names = readdirSync(proc);
      } catch {
        return null;
      }
      const entries: ProcessEntry[] = [];
      let looked = 0;
      for (const name of names) {
        if (!/^\d+$/.test(name)) continue;
        const entry = readProcess(Number(name));
        if (typeof entry === 'object') entries.push(entry);
        looked += 1;
        if (looked % 256 === 0) await nextTurn(); // a crowded machine must not delay the daemon
      }
      return looked === 0 ? null : entries;
    },
    readRunMark: (pid) => readVariable(pid, MARK),
    isEngineChild: (pid) => readVariable(pid, ENGINE_MARK) !== null,
    readLogin(pid) {
      try {
        const login = readFileSync(`${proc}/${pid}/sessionid`, 'utf8').trim();
        return login === NO_LOGIN ? null : login;
      } catch {
        return null; // a kernel without them
      }
    },
    adoptsOrphans(pid) {
      if (pid === 1) return true;
      try {
        return /^(?:systemd|init|upstart|launchd)$/.test(readFileSync(`${proc}/${pid}/comm`, 'utf8').trim());
      } catch {
        return true;
      }
    },
    findPlace(pid) {
      try {
        const status = readFileSync(`${proc}/${pid}/status`, 'utf8');
        const pids = /^NSpid:(.*)$/m.exec(status)?.[1]?.trim().split(/\s+/) ?? [];
        return { cgroup: readCgroup(pid), isNested: pids.length > 1 };
      } catch {
        return null;
      }
    },
  };
}

/** Returns `alive` if it is the same living process; a zombie is dead, a failed check is unknown. */
export function probeLiveness(
  probe: ProcessProbe,
  pid: number,
  pidStart: string,
): 'alive' | 'dead' | 'unknown' {
  const entry = probe.read(pid);
  if (entry === 'unknown') return 'unknown';
  return entry === 'gone' || entry.zombie || entry.start !== pidStart ? 'dead' : 'alive';
}
