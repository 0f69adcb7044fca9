import { runProgramSync } from '../../../core/base/run-program.ts';
import type { ProcessEntry, ProcessProbe } from './probe.ts';

/** macOS, best effort through `ps`. Not tested: no such machine was at hand when this was written. */
export function createDarwinProbe(): ProcessProbe {
  const columns = 'pid=,ppid=,pgid=,sess=,state=,lstart=';
  const ps = (args: string[]): { exitCode: number | null; stdout: string } =>
    runProgramSync('/bin/ps', args, {
      env: { LC_ALL: 'C' },
      mostBytes: 64 * 1024 * 1024,
      timeoutMs: 5000,
    });
  const parseLine = (line: string): ProcessEntry | null => {
    const match = /^\s*(\d+)\s+(\d+)\s+(\d+)\s+(\d+)\s+(\S+)\s+(.+)$/.exec(line);
    if (!match) return null;
    const began = Date.parse(match[6]!.trim());
    if (Number.isNaN(began)) return null;
    return {
      pid: Number(match[1]),
      ppid: Number(match[2]),
      pgid: Number(match[3]),
      sid: Number(match[4]),
      zombie: match[5]!.startsWith('Z'),
      start: String(began / 1000),
    };
  };
  const readEnvironment = (pid: number): string => ps(['-Eww', '-o', 'command=', '-p', String(pid)]).stdout;
  return {
    read(pid) {
      const { exitCode, stdout } = ps(['-o', columns, '-p', String(pid)]);
      if (exitCode === 1) return 'gone';
      return (exitCode === 0 && parseLine(stdout.trimEnd())) || 'unknown';
    },
    async list() {
      const { exitCode, stdout } = ps(['-axo', columns]);
      if (exitCode !== 0) return null;
      return stdout.split('\n').flatMap((line) => parseLine(line) ?? []);
    },
    readRunMark: (pid) => / SVC_RUN_ID=(\S+)/.exec(readEnvironment(pid))?.[1] ?? null,
    isEngineChild: (pid) => / SVC_ENGINE_CHILD=\S/.test(readEnvironment(pid)),
    readLogin: () => null,
    adoptsOrphans: (pid) => pid === 1,
    // Neither cgroups nor namespaces exist there.
    findPlace: () => ({ cgroup: null, isNested: false }),
  };
}
