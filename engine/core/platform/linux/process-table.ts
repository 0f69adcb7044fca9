import { existsSync, readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { ProcessEntry, ProcessTable } from '../platform.ts';

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
export function createLinuxProcessTable(proc = '/proc'): ProcessTable {
  const readProcess: ProcessTable['read'] = (pid) => {
    try {
      return parseStat(readFileSync(`${proc}/${pid}/stat`, 'utf8')) ?? 'unknown';
    } catch (error) {
      // Without /proc every pid would look gone.
      return isGoneError(error) && existsSync(`${proc}/self/stat`) ? 'gone' : 'unknown';
    }
  };
  const readText = (name: string): string | null => {
    try {
      return readFileSync(`${proc}/${name}`, 'utf8');
    } catch {
      return null; // ended, of another user, or a kernel without it
    }
  };
  const readVariable: ProcessTable['readVariable'] = (pid, name) => {
    const environment = readText(`${pid}/environ`);
    return environment === null ? null : findVariable(environment, name);
  };
  function listPids(): number[] | null {
    try {
      return readdirSync(proc).flatMap((name) => (/^\d+$/.test(name) ? [Number(name)] : []));
    } catch {
      return null;
    }
  }
  function readFolder(pid: number): string | null {
    try {
      return readlinkSync(`${proc}/${pid}/cwd`).replace(/ \(deleted\)$/, '');
    } catch {
      return null;
    }
  }
  return {
    read: readProcess,
    async list() {
      const pids = listPids();
      if (pids === null || pids.length === 0) return null;
      const entries: ProcessEntry[] = [];
      for (const [at, pid] of pids.entries()) {
        const entry = readProcess(pid);
        if (typeof entry === 'object') entries.push(entry);
        if (at % 256 === 255) await nextTurn(); // a crowded machine must not delay the daemon
      }
      return entries;
    },
    listNow() {
      const pids = listPids();
      if (pids === null || pids.length === 0) return null;
      return pids.map(readProcess).filter((entry) => typeof entry === 'object');
    },
    listPids,
    readVariable,
    readVariables(pids, name) {
      const found = new Map<number, string>();
      for (const pid of pids) {
        const value = readVariable(pid, name);
        if (value !== null) found.set(pid, value);
      }
      return found;
    },
    readArguments(pid) {
      const text = readText(`${pid}/cmdline`);
      return text === null || text === '' ? null : text.replace(/\0$/, '').split('\0');
    },
    readName: (pid) => readText(`${pid}/comm`)?.trimEnd() ?? null,
    readFolder,
    readFolders() {
      const folders = new Map<number, string>();
      for (const pid of listPids() ?? []) {
        const folder = readFolder(pid);
        // Ended, or of another user: such a process is not one of our workers.
        if (folder !== null) folders.set(pid, folder);
      }
      // Our own entry is always readable, so an empty result means that the lookup does not work here.
      return folders.size === 0 ? null : folders;
    },
    readMemory: (pid) =>
      1024 * Number(/^VmRSS:\s*(\d+) kB$/m.exec(readText(`${pid}/status`) ?? '')?.[1] ?? 0),
    readLogin(pid) {
      const login = readText(`${pid}/sessionid`)?.trim() ?? NO_LOGIN;
      return login === NO_LOGIN ? null : login;
    },
    adoptsOrphans(pid) {
      const name = pid === 1 ? null : readText(`${pid}/comm`);
      return name === null || /^(?:systemd|init|upstart|launchd)$/.test(name.trim());
    },
    findPlace(pid) {
      const status = readText(`${pid}/status`);
      if (status === null) return null;
      const pids = /^NSpid:(.*)$/m.exec(status)?.[1]?.trim().split(/\s+/) ?? [];
      const cgroup = /^0::(.*)$/m.exec(readText(`${pid}/cgroup`) ?? '')?.[1] ?? null;
      return { cgroup, isNested: pids.length > 1 };
    },
    /** By the option `hidepid` of proc(5). */
    hidesOthers() {
      const lines = readText('self/mounts')?.split('\n') ?? [];
      return lines.some((line) => {
        const [, at, type, options = ''] = line.split(' ');
        return at === '/proc' && type === 'proc' && /(^|,)hidepid=(?!0|off)/.test(options);
      });
    },
  };
}
