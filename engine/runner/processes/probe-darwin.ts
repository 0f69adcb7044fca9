import { execFileSync } from 'node:child_process';
import type { Probe, ProcessEntry } from './probe.ts';

/** macOS, best effort through `ps`. Not tested: no such machine was at hand when this was written. */
export function createDarwinProbe(): Probe {
  const columns = 'pid=,ppid=,pgid=,state=,lstart=';
  const ps = (args: string[]): { status: number | null; text: string } => {
    try {
      const text = execFileSync('/bin/ps', args, {
        encoding: 'utf8',
        env: { LC_ALL: 'C' },
        maxBuffer: 64 * 1024 * 1024,
        stdio: ['ignore', 'pipe', 'ignore'],
        timeout: 5000,
      });
      return { status: 0, text };
    } catch (error) {
      return { status: (error as { status?: number | null }).status ?? null, text: '' };
    }
  };
  const parseLine = (line: string): ProcessEntry | null => {
    const match = /^\s*(\d+)\s+(\d+)\s+(\d+)\s+(\S+)\s+(.+)$/.exec(line);
    if (!match) return null;
    const began = Date.parse(match[5]!.trim());
    if (Number.isNaN(began)) return null;
    return {
      pid: Number(match[1]),
      ppid: Number(match[2]),
      pgid: Number(match[3]),
      zombie: match[4]!.startsWith('Z'),
      start: String(began / 1000),
    };
  };
  const readEnvironment = (pid: number): string => ps(['-Eww', '-o', 'command=', '-p', String(pid)]).text;
  return {
    read(pid) {
      const { status, text } = ps(['-o', columns, '-p', String(pid)]);
      if (status === 1) return 'gone';
      return (status === 0 && parseLine(text.trimEnd())) || 'unknown';
    },
    async list() {
      const { status, text } = ps(['-axo', columns]);
      if (status !== 0) return null;
      return text.split('\n').flatMap((line) => parseLine(line) ?? []);
    },
    readRunMark: (pid) => / SVC_RUN_ID=(\S+)/.exec(readEnvironment(pid))?.[1] ?? null,
    isEngineChild: (pid) => / SVC_ENGINE_CHILD=\S/.test(readEnvironment(pid)),
    // Neither cgroups nor namespaces exist there.
    findPlace: () => ({ cgroup: null, isNested: false }),
  };
}
