import { runProgramSync } from '../base/run-program.ts';
import type { ProcessEntry, ProcessTable } from './platform.ts';

const COLUMNS = 'pid=,ppid=,pgid=,sess=,state=,lstart=';

/** `sess` is an address where the kernel shows one, which identifies no process: only 0 on newer systems. */
const LINE =
  /^\s*(\d+)\s+(\d+)\s+(\d+)\s+([\da-f]+)\s+(\S+)\s+(\w{3}\s+\w{3}\s+\d+\s+[\d:]+\s+\d{4})(?:\s(.*))?$/;

/** A process, and its command with its environment where that was asked for. */
interface PsLine {
  entry: ProcessEntry;
  command: string;
}

function parseLine(line: string): PsLine | null {
  const [, pid, ppid, pgid, sid = '', state = '', started = '', command = ''] = LINE.exec(line) ?? [];
  const began = Date.parse(started);
  if (Number.isNaN(began)) return null;
  return {
    entry: {
      pid: Number(pid),
      ppid: Number(ppid),
      pgid: Number(pgid),
      sid: /^\d{1,7}$/.test(sid) ? Number(sid) : 0,
      zombie: state.startsWith('Z'),
      start: String(began / 1000),
    },
    command,
  };
}

/** Questions about single processes that one turn of the event loop asks `ps` singly, before it reads the whole table. */
const MOST_SINGLE = 2;

/** Finds a variable behind the arguments of a command. */
const findVariable = (command: string, name: string): string | null =>
  command
    .split(' ')
    .find((each) => each.startsWith(`${name}=`))
    ?.slice(name.length + 1) ?? null;

/**
 * Reads the process table by `ps` of BSD, and folders by `lsof`. Works without `/proc`; start times have the
 * precision of a second.
 */
export function createPsTable(): ProcessTable {
  const run = (program: string, args: string[]): string | null => {
    const { exitCode, stdout } = runProgramSync(program, args, {
      env: { PATH: process.env.PATH, LC_ALL: 'C' },
      mostBytes: 64 * 1024 * 1024,
      timeoutMs: 10_000,
    });
    return exitCode === 0 || (exitCode === 1 && stdout === '') ? stdout : null;
  };
  const readColumn = (pid: number, column: string, ...options: string[]): string | null =>
    run('ps', [...options, '-o', `${column}=`, '-p', String(pid)])?.trim() || null;
  const readAll = (...options: string[]): PsLine[] =>
    run('ps', options)
      ?.split('\n')
      .flatMap((line) => parseLine(line) ?? []) ?? [];
  const listNow = (): ProcessEntry[] | null => {
    const entries = readAll('-axo', COLUMNS).map(({ entry }) => entry);
    return entries.length === 0 ? null : entries;
  };

  // A trace asks about each ancestor, several times each: that is one `ps` and not twenty.
  let asked = 0;
  let table: Map<number, PsLine> | null = null;
  /** Finds a process in the table of this turn of the event loop; undefined if it has to be asked for. */
  function findInTurn(pid: number): PsLine | undefined {
    if (asked === 0)
      setImmediate(() => {
        asked = 0;
        table = null;
      }).unref();
    asked += 1;
    if (asked <= MOST_SINGLE) return undefined;
    table ??= new Map(readAll('-Eww', '-axo', `${COLUMNS},command=`).map((line) => [line.entry.pid, line]));
    return table.get(pid);
  }
  function readFolders(...options: string[]): Map<number, string> | null {
    const folders = new Map<number, string>();
    let pid = 0;
    for (const line of run('lsof', ['-w', ...options, '-d', 'cwd', '-Fpn'])?.split('\n') ?? []) {
      if (line.startsWith('p')) pid = Number(line.slice(1));
      else if (line.startsWith('n')) folders.set(pid, line.slice(1));
    }
    return folders.size === 0 ? null : folders;
  }
  return {
    read(pid) {
      const known = findInTurn(pid);
      if (known !== undefined) return known.entry;
      const line = run('ps', ['-o', COLUMNS, '-p', String(pid)]);
      if (line === null) return 'unknown';
      return line.trim() === '' ? 'gone' : (parseLine(line.trimEnd())?.entry ?? 'unknown');
    },
    list: async () => listNow(),
    listNow,
    listPids: () => listNow()?.map(({ pid }) => pid) ?? null,
    readVariable: (pid, name) =>
      findVariable(findInTurn(pid)?.command ?? readColumn(pid, 'command', '-Eww') ?? '', name),
    readVariables(pids, name) {
      const wanted = new Set(pids);
      const found = new Map<number, string>();
      for (const line of run('ps', ['-Eww', '-axo', 'pid=,command='])?.split('\n') ?? []) {
        const [, pid = '', command = ''] = /^\s*(\d+)\s(.*)$/.exec(line) ?? [];
        const value = wanted.has(Number(pid)) ? findVariable(command, name) : null;
        if (value !== null) found.set(Number(pid), value);
      }
      return found;
    },
    readName: (pid) => readColumn(pid, 'comm')?.replace(/^.*\//, '') ?? null,
    readArguments: (pid) => readColumn(pid, 'command', '-ww')?.split(' ') ?? null,
    readFolder: (pid) => readFolders('-a', '-p', String(pid))?.get(pid) ?? null,
    readFolders,
    readMemory: (pid) => 1024 * Number(readColumn(pid, 'rss') ?? 0),
    readLogin: () => null,
    adoptsOrphans: (pid) => pid === 1,
    // Neither cgroups nor namespaces exist there.
    findPlace: () => ({ cgroup: null, isNested: false }),
    hidesOthers: () => false,
  };
}
